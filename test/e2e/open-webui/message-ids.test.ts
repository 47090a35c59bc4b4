/**
 * The ids of messages that an Open WebUI with the recommended headers sends: they find every turn of the branch, without
 * markers, whatever the user does.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatSession } from '../../support/open-webui/chat-session.ts'
import type { ChatPosition } from '../../support/open-webui/headers.ts'
import { promptLines } from '../../support/open-webui/prompt-lines.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'

const MODELS = ['gpt-5', 'claude-opus-5']
const CONNECTIONS = ['chat', 'responses', 'stateful'] as const

let setup: TestSetup
beforeAll(async () => void (setup = await startTestSetup('full', { MARKERS: 'never' })))
afterAll(() => setup.close())

const WAYS = CONNECTIONS.flatMap((connection) => MODELS.map((model) => ({ connection, model })))

describe.concurrent.each(WAYS)('a $connection connection to $model', ({ connection, model }) => {
  const newSession = (): ChatSession => setup.session({ connection }, { model, hasMarkers: true })
  /** Only the reasoning that led to a text which the user has edited since may be left out, with a note. */
  const isPerfect = (session: ChatSession) => {
    expect([...session.gaps, ...session.faults]).toEqual([])
    for (const line of session.explained.flatMap(({ missing }) => missing))
      expect(line).toMatch(/^thought: /)
  }

  test('answers with edited text keep their calls, also after further plain answers', async () => {
    const session = newSession()
    await session.ask('RC|RT')
    session.editAnswer((text) => text.replace('grey', 'blue'))
    await session.ask('T')
    await session.ask('RT')
    session.editAnswer(() => 'I never said that.')
    await session.ask('T')
    await session.ask('T')
    await session.ask('RT')
    isPerfect(session)
  })

  test('answers that were stopped, failed or continued are found', async () => {
    const session = newSession()
    await session.ask('RT')
    await session.ask('R~T')
    await session.ask('!')
    await session.ask('RC|!')
    await session.ask('RC|RT')
    await session.continueAnswer('RC|RT')
    await session.continueAnswer('T')
    await session.ask('RT')
    expect([...session.gaps, ...session.faults]).toEqual([])
  })

  test.each([true, false])(
    'an answer that is revised by a suggestion is not taken for the one before it (start of the chat known: %s)',
    async (isStartKnown) => {
      let isNamed = isStartKnown
      const tellPosition = (place: ChatPosition) => (isNamed ? place : { task: place.task })
      const account = { connection, sendsRevisedAnswer: true, tellPosition }
      const session = setup.session(account, { model, hasMarkers: true })
      await session.ask('RT')
      isNamed = true
      await session.ask('RC|RT')
      await session.ask('RC|RT')
      await session.regenerate('RT', 'Make it shorter')
      const lines = promptLines(session.received.at(-1) ?? {})
      expect(lines.filter((line) => line.startsWith('thought'))).toHaveLength(5)
      await session.ask('RT')
      expect(session.faults).toEqual([])
    },
  )

  test('branches with the same text keep their own reasoning', async () => {
    const session = newSession()
    const first = await session.ask('RT')
    await session.regenerate('RT')
    // Both answers have the same text now, and so have the questions.
    session.editAnswer(() => 'Yes.')
    await session.ask('RT')
    session.chat.goTo(first.node.id)
    session.editAnswer(() => 'Yes.')
    await session.ask('RT')
    await session.regenerate('RC|RT', 'Make it shorter')
    await session.ask('RT')
    isPerfect(session)
  })
})
