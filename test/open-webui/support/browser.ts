/** Opens pages of a Chromium without a window, which remember what the page copies and speaks. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findChromium, loadPlaywright } from './install.ts'
import type { Browser, Page } from './playwright.ts'

export interface Screen {
  readonly page: Page
  /** Writes a screenshot into the folder of this run. */
  readonly takeScreenshot: (name: string) => Promise<void>
  /** Returns the texts that the page wrote into the clipboard since the last call. */
  readonly takeCopies: () => Promise<readonly string[]>
  /** Returns the texts that the page let the browser speak since the last call. */
  readonly takeSpeech: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** No step of the suite waits longer for an element of a page. */
const STEP_MS = 15_000

/** Chromium without a window has no voices, and Open WebUI speaks only if there are some. */
const RECORD_COPIES_AND_SPEECH = `
  window.recordedCopies = []
  window.recordedSpeech = []
  navigator.clipboard.writeText = async (text) => { window.recordedCopies.push(text) }
  navigator.clipboard.write = async (items) => {
    for (const item of items) {
      const blob = await item.getType('text/plain')
      window.recordedCopies.push(await blob.text())
    }
  }
  const voice = { name: 'Test', lang: 'en-US', default: true, localService: true, voiceURI: 'Test' }
  speechSynthesis.getVoices = () => [voice]
  window.SpeechSynthesisUtterance = class extends EventTarget {
    constructor(text) { super(); this.text = text }
  }
  speechSynthesis.speak = (utterance) => {
    window.recordedSpeech.push(utterance.text)
    setTimeout(() => utterance.onend?.(new Event('end')))
  }
`

export async function launchBrowser(): Promise<Browser> {
  const chromium = await loadPlaywright()
  return chromium.launch({
    executablePath: findChromium(),
    // The sandbox does not work for root, in containers for example.
    args: ['--no-sandbox', '--lang=en-US'],
  })
}

export async function openScreen(browser: Browser, folder: string): Promise<Screen> {
  const context = await browser.newContext({
    viewport: { width: 1360, height: 860 },
    locale: 'en-US',
    acceptDownloads: true,
  })
  context.setDefaultTimeout(STEP_MS)
  await context.addInitScript({ content: RECORD_COPIES_AND_SPEECH })
  const page = await context.newPage()
  mkdirSync(folder, { recursive: true })
  let number = 0
  return {
    page,
    async takeScreenshot(name) {
      number += 1
      await page.screenshot({
        path: join(folder, `${String(number).padStart(2, '0')}-${name}.png`),
      })
    },
    takeCopies: () => page.evaluate('window.recordedCopies.splice(0)'),
    takeSpeech: () => page.evaluate('window.recordedSpeech.splice(0)'),
    close: () => context.close(),
  }
}
