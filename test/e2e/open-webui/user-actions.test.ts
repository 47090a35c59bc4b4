/**
 * The user actions of Open WebUI with each of its header profiles: each request must equal what a client with
 * a perfect memory would send, and each answer must be one that Open WebUI can process.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROFILES } from '../../support/open-webui/headers.ts'
import type { ChatSession } from '../../support/open-webui/chat-session.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'

const MODELS = ['gpt-5', 'claude-opus-5']
const WAYS = PROFILES.flatMap((profile) => MODELS.map((model) => ({ profile, model })))

describe.concurrent.each(WAYS)(
  'user actions in Open WebUI with the header profile "$profile" and $model',
  ({ profile, model }) => {
    let setup: TestSetup
    beforeAll(async () => void (setup = await startTestSetup(profile)))
    afterAll(() => setup.close())

    const newSession = (): ChatSession => setup.session({}, { model })
    const isPerfect = (session: ChatSession) => expect(session.problems()).toEqual([])

    test('reasoning and tool calls of a new chat are sent in its next turns (C126, C130)', async () => {
      const session = newSession()
      await session.ask('RTCC|RC|RT')
      await session.ask('RT')
      await session.ask('T')
      await session.ask('RX|RTRT')
      await session.ask('RT')
      isPerfect(session)
    })

    test('an answer without text is recalled', async () => {
      const session = newSession()
      // Only the wire of gpt-5 has provider tools.
      const search = model === 'gpt-5' ? 'RH' : 'R'
      await session.ask('RT')
      await session.ask(search)
      await session.ask('RT')
      await session.ask(`RC|${search}`)
      await session.continueAnswer(search)
      await session.ask('RT')
      // Reasoning that led to nothing is dropped with a note.
      expect([...session.gaps, ...session.faults]).toEqual([])
      if (model === 'gpt-5') isPerfect(session)
    })

    test('a regenerated answer, with or without a suggestion, gets no items of the other answers (C126)', async () => {
      const session = newSession()
      const first = await session.ask('RT')
      await session.regenerate('RC|RT')
      await session.ask('RT')
      await session.regenerate('RC|RT', 'Make it shorter')
      await session.ask('RT')
      session.chat.goTo(first.node.id)
      await session.ask('RT')
      isPerfect(session)
    })

    test('editing a question starts a branch, and the user can return to the old one (C126)', async () => {
      const session = newSession()
      await session.ask('RT')
      const old = await session.ask('RC|RT')
      await session.editQuestion('RT')
      await session.ask('RT')
      session.chat.goTo(old.node.id)
      await session.ask('RT')
      isPerfect(session)
    })

    test('an answer with edited text keeps all items but the reasoning that led to this text (C126)', async () => {
      const session = newSession()
      await session.ask('RT')
      await session.ask('RC|RT')
      session.editAnswer((text) => text.replace('grey', 'blue'))
      await session.ask('RT')
      expect([...session.gaps, ...session.faults]).toEqual([])
      const missing = session.explained.flatMap((gap) => gap.missing)
      // Without the ids of messages, an edited answer may not be found at all.
      expect(missing).toEqual(profile === 'full' ? [expect.stringMatching(/^thought: /)] : [])
    })

    test('an answer can be continued several times (C126)', async () => {
      const session = newSession()
      await session.ask('RT')
      await session.continueAnswer('T')
      await session.continueAnswer('RT')
      await session.ask('T')
      await session.continueAnswer('RC|RT')
      await session.ask('RT')
      isPerfect(session)
    })

    test('an answer can be continued with tools', async () => {
      const session = newSession()
      await session.ask('RTRT')
      await session.continueAnswer('RTC|RT')
      await session.ask('RT')
      // Without markers, the boundary between two turns in one text is unknown.
      if (profile === 'bare') expect([...session.gaps, ...session.faults]).toEqual([])
      else isPerfect(session)
    })

    test('a stopped answer keeps the text received so far and the items before it (C126)', async () => {
      const session = newSession()
      await session.ask('RT')
      await session.ask('R~T')
      await session.ask('RTR~T')
      await session.ask('RC|R~T')
      await session.ask('~R')
      await session.ask('R~C')
      await session.ask('RT')
      isPerfect(session)
    })

    test('a failed answer stays empty and does not affect the next turns', async () => {
      const session = newSession()
      await session.ask('RT')
      await session.ask('!')
      await session.ask('RC|!')
      await session.regenerate('RT')
      await session.ask('RT')
      isPerfect(session)
    })

    test('a cloned chat recalls the turns of its original (C7, C126)', async () => {
      const session = newSession()
      await session.ask('RC|RT')
      await session.ask('RT')
      const copy = session.clone()
      await copy.ask('RT')
      await session.ask('RT')
      isPerfect(copy)
      isPerfect(session)
    })

    test('a document is sent for one turn, a picture for all later turns (C126)', async () => {
      const session = newSession()
      await session.ask('RT', { document: 'The word is swordfish.' })
      await session.ask('RC|RT')
      await session.ask('RT', { image: PIXEL })
      await session.ask('RT')
      isPerfect(session)
    })

    test('a picture is sent in every step of a tool loop and in later turns (C126)', async () => {
      const session = newSession()
      await session.ask('RC|RCC|RT', { image: PIXEL })
      await session.ask('RC|RT')
      expect(
        session.received.map((body) => JSON.stringify(body).split(PIXEL_DATA).length - 1),
      ).toEqual(Array.from({ length: 5 }, () => 1))
      isPerfect(session)
    })
  },
)

const PIXEL_DATA =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PIXEL = `data:image/png;base64,${PIXEL_DATA}`
