/**
 * Models whose reasoning is valid only after its unchanged prefix. A later change by Open WebUI, e.g. a
 * removed document or an edited answer, invalidates the reasoning after it: the gateway drops it with a note,
 * and the answer does not fail.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatSession } from '../../support/open-webui/chat-session.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'

let setup: TestSetup
beforeAll(async () => void (setup = await startTestSetup()))
afterAll(() => setup.close())

const onlyExplained = ({ gaps, faults }: ChatSession) => expect([...gaps, ...faults]).toEqual([])

describe.concurrent.each(['claude-opus-5-5', 'gpt-5.6'])(
  'reasoning of %s, which is valid only after its unchanged prefix',
  (model) => {
    const newSession = (): ChatSession =>
      setup.session({}, { model, system: 'You are a lighthouse.' })

    test('a chat that only grows keeps all reasoning that is valid only after an unchanged prefix', async () => {
      const session = newSession()
      await session.ask('RTCC|RC|RT')
      await session.ask('RTRT')
      await session.regenerate('RT')
      await session.ask('T')
      await session.ask('R~T')
      await session.ask('RT')
      expect(session.problems()).toEqual([])
    })

    test('removing a document drops later reasoning that is valid only after an unchanged prefix', async () => {
      const session = newSession()
      await session.ask('RT')
      await session.ask('RT', { document: 'The word is swordfish.' })
      await session.ask('RT')
      await session.ask('RT')
      onlyExplained(session)
      expect(session.explained.length).toBeGreaterThan(0)
      for (const { missing } of session.explained) expect(missing).toHaveLength(1)
    })

    test('editing an answer drops later reasoning that is valid only after an unchanged prefix', async () => {
      const session = newSession()
      const first = await session.ask('RT')
      const second = await session.ask('RC|RT')
      session.chat.goTo(first.node.id)
      session.editAnswer((text) => text.replace('grey', 'blue'))
      session.chat.goTo(second.node.id)
      await session.ask('RT')
      await session.ask('RT')
      onlyExplained(session)
      expect(session.explained.length).toBeGreaterThan(0)
    })
  },
)

test.concurrent('calls of provider-hosted tools are sent again at their position, with the reasoning around them', async () => {
  const session = setup.session()
  await session.ask('RHRT')
  await session.ask('RHT')
  await session.regenerate('RT')
  await session.ask('RT')
  expect(session.problems()).toEqual([])
})
