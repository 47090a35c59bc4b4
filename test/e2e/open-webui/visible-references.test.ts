/**
 * What a user of Open WebUI can see of the gateway's references: nothing with the recommended headers; without them, at
 * most one marker in an answer that nothing else names.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { markersIn } from '../../support/open-webui/check-answer.ts'
import type { ChatAnswer } from '../../support/open-webui/chat.ts'
import type { Profile } from '../../support/open-webui/headers.ts'
import { parseScript } from '../../support/open-webui/script.ts'
import { shownText } from '../../support/open-webui/stored-item.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'
import { objects } from '../../support/services/service.ts'

const setups = new Map<Profile, TestSetup>()
beforeAll(async () => {
  for (const profile of ['user', 'full'] as const)
    setups.set(profile, await startTestSetup(profile))
})
afterAll(async () => {
  for (const setup of setups.values()) await setup.close()
})

const MODELS = ['gpt-5', 'claude-opus-5', 'glm-5']
const CONNECTIONS = ['chat', 'responses'] as const
const WAYS = CONNECTIONS.flatMap((connection) => MODELS.map((model) => ({ connection, model })))

const countMarkers = ({ node }: ChatAnswer): number => markersIn(shownText(node.items)).length

function setupOf(profile: Profile): TestSetup {
  const setup = setups.get(profile)
  if (setup === undefined) throw new Error(`There is no ${profile}.`)
  return setup
}

describe.concurrent.each(WAYS)('a $connection connection to $model', ({ connection, model }) => {
  test('with the recommended headers, no answer has a marker, and everything is recalled', async () => {
    const session = setupOf('full').session({ connection }, { model })
    for (const script of ['RTC|RC|RT', 'RT', 'T', 'RTRT']) {
      expect(countMarkers(await session.ask(script))).toBe(0)
    }
    expect(countMarkers(await session.regenerate('RT'))).toBe(0)
    expect(countMarkers(await session.continueAnswer('RT'))).toBe(0)
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  })

  test('without them, an answer has at most one marker, at its end, and only if nothing else names its turn', async () => {
    const session = setupOf('user').session({ connection }, { model })
    const expected = connection === 'chat' ? 0 : 1
    const looped = await session.ask('RTC|RC|RT')
    const plain = await session.ask('T')
    const thought = await session.ask('RTRT')
    expect([looped, plain, thought].map(countMarkers)).toEqual([expected, 0, expected])
    const text = shownText(thought.node.items)
    if (expected === 1) expect(text).toMatch(/\n\n\[\w{20}\]: #$/)
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  })
})

test('a thought on a chat connection has a reference of the turn, which no model is ever sent', async () => {
  const session = setupOf('user').session({}, { model: 'glm-5' })
  await session.ask('RC|RT')
  const { rounds } = await session.ask('RT')
  const messages = objects((rounds[0]?.body ?? {})['messages'])
  const details = messages.flatMap(({ reasoning_details: list }) => objects(list))
  expect(details).toHaveLength(2)
  expect(details[0]).toMatchObject({ type: 'reasoning.encrypted', format: 'backstory-v1' })
  expect(JSON.stringify(session.received)).not.toContain('backstory')
  expect(session.problems()).toEqual([])
})

describe('requests of programs through Open WebUI', () => {
  test.each([true, false])(
    'Playground and the API get no reference (stream: %s)',
    async (stream) => {
      const { gateway, upstream } = setupOf('full')
      const content = 'Q0 playground?'
      const [planned] = parseScript('RT')
      if (planned !== undefined) upstream.plan(content, 'gpt-5', [planned])
      const empty = {
        'X-Backstory-Chat': '',
        'X-Backstory-Message': '',
        'X-Backstory-User-Parent': '',
      }
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'X-Backstory-User': 'someone', ...empty },
        body: JSON.stringify({
          model: 'gpt-5',
          stream,
          messages: [{ role: 'user', content }],
        }),
      })
      const text = await response.text()
      expect(text).toContain('Say ')
      expect(markersIn(text)).toEqual([])
      expect(text).not.toContain('backstory-v1')
    },
  )
})

test('a chat that was imported with unknown markers says so once', async () => {
  const session = setupOf('full').session()
  await session.ask('T')
  session.editAnswer((text) => `${text}\n\n[01KQZ3V8M6T2X9R4B7C9]: #`)
  const first = await session.ask('RC|RT')
  const second = await session.ask('RT')
  const hasLine = ({ rounds }: ChatAnswer): readonly boolean[] =>
    rounds.map(({ lines }) => lines.some((line) => line.includes('are from elsewhere')))
  expect(hasLine(first)).toEqual([true, false])
  expect(hasLine(second)).toEqual([false])
})
