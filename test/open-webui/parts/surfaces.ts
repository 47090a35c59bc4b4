/** Every place where Open WebUI shows, copies or speaks the text of an answer: nothing of the gateway is visible. */
import { readFile } from 'node:fs/promises'
import type { Page } from '../support/playwright.ts'
import { pause, waitFor } from '../support/processes.ts'
import { answersOn, ask, openNewChat, startAsking } from '../support/screen.ts'
import type { Part, PartContext } from './part-interface.ts'

export const surfaces: Part = {
  name: 'surfaces',
  description: 'where a person can see a text of the gateway',
  usesEveryWire: false,
  async run(context) {
    const { screen, url, model } = context
    const { page } = screen
    await openNewChat(page, url, model)
    await ask(page, 'Look up Oslo and Rome.')
    await watchChat(context)
    const id = page.url().split('/').at(-1) ?? ''
    for (const look of [
      lookAtCopies,
      lookAtSpeech,
      lookAtEditBox,
      lookAtMenu,
      lookAtOverview,
      lookAtSearch,
      lookAtTitles,
      lookAtSharedPage,
    ]) {
      await page.goto(`${url}/c/${id}`)
      await answersOn(page).nth(1).waitFor()
      await tryLook(context, look, id)
    }
    await tryLook(context, lookAtPlayground, id)
    await tryLook(context, lookAtApi, id)
  },
}

type Look = (context: PartContext, chatId: string) => Promise<void>

/** One surface that cannot be reached is reported, and the others are still looked at. */
async function tryLook(context: PartContext, look: Look, chatId: string): Promise<void> {
  try {
    await look(context, chatId)
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    context.check(`${look.name} reaches its surface`, false, text)
    await context.screen.takeScreenshot(`failed-${look.name}-${context.connection}`)
  }
}

/** Reads the chat about ten times a second while an answer is written, and after the page was loaded again. */
async function watchChat({ screen, checkSurface, connection }: PartContext): Promise<void> {
  const { page } = screen
  await startAsking(page, 'Look up Bern and Riga.')
  const seen: string[] = []
  await waitFor('the second answer', 30_000, async () => {
    seen.push(...(await answersOn(page).allInnerTexts()))
    const buttons = await answersOn(page).nth(1).locator('.copy-response-button').count()
    return buttons > 0 ? true : null
  })
  checkSurface('chat, while an answer is written', seen)
  await pause(500)
  checkSurface('chat', await answersOn(page).allInnerTexts())
  await screen.takeScreenshot(`chat-${connection}`)
  await page.reload()
  await answersOn(page).nth(1).waitFor()
  checkSurface('chat, loaded again', await answersOn(page).allInnerTexts())
}

async function lookAtCopies({ screen, checkSurface }: PartContext): Promise<void> {
  const { page } = screen
  for (const answer of await answersOn(page).all()) {
    await answer.hover()
    await answer.locator('.copy-response-button').click()
  }
  await pause(300)
  checkSurface('Copy', await screen.takeCopies())
}

async function lookAtSpeech({ screen, checkSurface }: PartContext): Promise<void> {
  const { page } = screen
  for (const answer of await answersOn(page).all()) {
    await answer.hover()
    await answer.locator('[id^="speak-button-"]').click()
    await pause(700)
  }
  checkSurface('speech of the browser', await screen.takeSpeech())
}

async function lookAtEditBox({ screen, checkSurface, connection }: PartContext): Promise<void> {
  const { page } = screen
  const answer = answersOn(page).first()
  await answer.hover()
  await answer.getByRole('button', { name: 'Edit', exact: true }).first().click()
  const boxes = page.locator('[id^="message-"] textarea')
  await boxes.first().waitFor()
  await screen.takeScreenshot(`edit-box-${connection}`)
  const texts = await Promise.all((await boxes.all()).map((box) => box.inputValue()))
  checkSurface('edit box', texts)
}

async function lookAtMenu({ screen, checkSurface }: PartContext): Promise<void> {
  const { page } = screen
  await screen.takeCopies()
  await openChatMenu(page)
  await page.locator('#chat-copy-button').click()
  await pause(500)
  checkSurface('Copy chat', await screen.takeCopies())
  checkSurface('export as TXT', [await download(page, 'Plain text (.txt)')])
  const json = await download(page, 'Export chat (.json)')
  checkSurface('export as JSON, without reasoning_details', [withoutDetails(json)])
}

async function openChatMenu(page: Page): Promise<void> {
  // After a click on one of its items the menu closes, stays open, or closes slowly.
  await page.reload()
  await answersOn(page).nth(1).waitFor()
  await page.locator('#chat-context-menu-button').click()
  await page.getByText('Download', { exact: true }).waitFor()
  await pause(500)
}

async function download(page: Page, item: string): Promise<string> {
  await openChatMenu(page)
  await page.getByText('Download', { exact: true }).hover()
  const event = page.waitForEvent('download')
  await page.getByText(item, { exact: true }).click()
  return readFile(await (await event).path(), 'utf8')
}

/** An export may contain the reference of a turn in `reasoning_details`, as all of an answer's state. */
function withoutDetails(json: string): string {
  const skip = (key: string, value: unknown): unknown =>
    key === 'reasoning_details' ? undefined : value
  return JSON.stringify(JSON.parse(json), skip)
}

async function lookAtOverview({ screen, checkSurface, connection }: PartContext): Promise<void> {
  const { page } = screen
  const tab = page.getByText('Overview', { exact: true }).first()
  // Open WebUI remembers whether the panel was open, and the button closes it then.
  await pause(1000)
  if (!(await tab.isVisible())) {
    await page.getByRole('button', { name: 'Controls' }).first().click()
  }
  await tab.click()
  const nodes = page.locator('.svelte-flow__node')
  await nodes.first().waitFor()
  await screen.takeScreenshot(`overview-${connection}`)
  checkSurface('Overview', await nodes.allInnerTexts())
}

async function lookAtSearch({ screen, checkSurface, connection }: PartContext): Promise<void> {
  const { page } = screen
  await page.getByRole('button', { name: 'Search', exact: true }).first().click()
  await page
    .getByPlaceholder(/^Search/)
    .last()
    .fill('foggy')
  await pause(3000)
  await screen.takeScreenshot(`search-${connection}`)
  checkSurface('search', await page.locator('body').allInnerTexts())
}

async function lookAtTitles({ screen, api, checkSurface }: PartContext, id: string): Promise<void> {
  const { title } = await api.readChat(id)
  const shown = await screen.page.evaluate<string>('document.title')
  const followUps = await screen.page.locator('[aria-label^="Follow up"]').allInnerTexts()
  const tags = await api.get<readonly unknown[]>(`/api/v1/chats/${id}/tags`)
  checkSurface('title, tags, follow-ups', [title, shown, ...followUps, JSON.stringify(tags)])
}

async function lookAtSharedPage(context: PartContext, id: string): Promise<void> {
  const { screen, api, url, checkSurface } = context
  const shared = await api.post<{ readonly share_id: string }>(`/api/v1/chats/${id}/share`, {})
  await screen.page.goto(`${url}/s/${shared.share_id}`)
  await answersOn(screen.page).nth(1).waitFor()
  checkSurface('shared page', await answersOn(screen.page).allInnerTexts())
}

async function lookAtPlayground(context: PartContext): Promise<void> {
  const { screen, url, model, checkSurface, connection } = context
  const { page } = screen
  const run = async (): Promise<readonly string[]> => {
    await page.locator('select').first().selectOption(model)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await pause(1000)
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    const boxes = await page.locator('#messages-container textarea').all()
    return Promise.all(boxes.map((box) => box.inputValue()))
  }
  // The Playground does not understand the answers of a Responses connection, and shows nothing.
  if (connection === 'responses') return
  await page.goto(`${url}/playground`)
  await page.getByPlaceholder('Enter a user message here').fill('What is the weather?')
  checkSurface('Playground, Chat', (await run()).slice(1))
  await screen.takeScreenshot(`playground-${connection}`)
  await page.goto(`${url}/playground/completions`)
  await page.locator('#text-completion-textarea').fill(PROMPT)
  checkSurface('Playground, Completions', [(await run()).join('').replace(PROMPT, '')])
}

const PROMPT = 'The weather is'

/** A program that uses Open WebUI as its API. Ids of an answer are no texts. */
async function lookAtApi({ api, model, checkSurface, url }: PartContext): Promise<void> {
  const messages = [{ role: 'user', content: 'What is the weather?' }]
  const answer = await api.post('/api/chat/completions', { model, messages, stream: false })
  checkSurface('API program', textsIn(answer))
  const { authorization } = api
  const response = await fetch(`${url}/api/chat/completions`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, stream: true }),
  })
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  const events = lines.flatMap((line) => textsIn(JSON.parse(line.slice('data: '.length))))
  checkSurface('API program, streamed', events)
}

/** Returns the strings of an answer or event of either API that a program shows. */
function textsIn(value: unknown, key = ''): readonly string[] {
  if (typeof value === 'string') return SHOWN_FIELDS.has(key) ? [value] : []
  if (Array.isArray(value)) return value.flatMap((one) => textsIn(one, key))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => textsIn(one, name))
}

const SHOWN_FIELDS = new Set(['content', 'reasoning_content', 'reasoning', 'text', 'delta'])
