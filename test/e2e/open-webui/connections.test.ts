/**
 * Other connections of Open WebUI: to `/v1/responses`, stateless and "stateful", one that keeps reasoning,
 * and one with parameters.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'

let setup: TestSetup
beforeAll(async () => void (setup = await startTestSetup()))
afterAll(() => setup.close())

const MODELS = ['gpt-5', 'claude-opus-5'] as const
const WAYS = (['responses', 'stateful'] as const).flatMap((connection) =>
  MODELS.map((model) => ({ connection, model })),
)

describe.concurrent.each(WAYS)(
  'a $connection connection of Open WebUI to $model',
  ({ connection, model }) => {
    test('the gateway recalls the items that Open WebUI drops when it converts a chat (C126)', async () => {
      const session = setup.session({ connection }, { model, system: 'You are a lighthouse.' })
      await session.ask('RTCC|RC|RT')
      await session.ask('RC|RT')
      await session.regenerate('RT')
      await session.ask('RTRT')
      await session.ask('R~T')
      await session.continueAnswer('RT')
      await session.editQuestion('RT')
      await session.ask('RT')
      expect(session.problems()).toEqual([])
    })

    test('the gateway recalls both parts of an answer that Open WebUI continued', async () => {
      const session = setup.session({ connection }, { model })
      await session.ask('RT')
      await session.continueAnswer('T')
      await session.ask('RC|RTRT')
      await session.continueAnswer('RT')
      await session.ask('RT')
      expect(session.problems()).toEqual([])
    })
  },
)

test.concurrent.each(MODELS)(
  "%s is not sent reasoning twice if Open WebUI's connection sends it back too",
  async (model) => {
    const session = setup.session({ keepsReasoning: true }, { model })
    await session.ask('RC|RT')
    await session.ask('RTRT')
    await session.ask('RT')
    expect(session.problems()).toEqual([])
  },
)

test.concurrent('if several models answer one question in Open WebUI, the chat continues with one of them', async () => {
  const session = setup.session()
  const [first, second] = await session.askAll({ 'gpt-5': 'RC|RT', 'claude-opus-5': 'RT' })
  await session.ask('RT')
  expect(session.chat.tree().get(first?.node.id ?? '')).toMatchObject({ model: 'gpt-5' })
  expect(session.problems()).toEqual([])
  session.chat.goTo(second?.node.id ?? '')
  await session.ask('RT')
  expect([...session.gaps, ...session.faults]).toEqual([])
  expect(session.explained).toHaveLength(1)
})

test.concurrent("an upstream gets the text of another upstream's answers, but not its encrypted reasoning (C98)", async () => {
  const session = setup.session()
  await session.askAll({ 'gpt-5': 'RC|RT', 'claude-opus-5': 'T' })
  const other = await session.askAll({ 'claude-opus-5': 'RT' })
  expect(other[0]?.node.error).toBeNull()
  expect([...session.faults, ...session.gaps]).toEqual([])
  expect(session.explained).toMatchObject([{ step: 'ask claude-opus-5 RT', strange: [] }])
  expect(session.explained[0]?.missing).toHaveLength(2)
})

test.concurrent.each([
  ['gpt-5', 'developer', 'max_completion_tokens'],
  ['claude-opus-4-6', 'system', 'max_tokens'],
])(
  '%s gets the parameters that the user of Open WebUI set, under the names of its own API',
  async (model, role, most) => {
    const params = { max_tokens: 4000, stop: ['END'], reasoning_effort: 'high' }
    const session = setup.session({ params }, { model, system: 'SYS' })
    const { rounds } = await session.ask('RT')
    await session.ask('RT')
    expect(rounds[0]?.body).toMatchObject({
      [most]: 4000,
      messages: [{ role, content: 'SYS' }, {}],
    })
    expect(JSON.stringify(session.received.at(-1))).toMatch(/SYS.*Q|Q.*SYS/)
    expect(session.problems()).toEqual([])
  },
)

test.concurrent('the model list has the format that Open WebUI expects (C126)', async () => {
  const response = await fetch(`${setup.gateway.url}/v1/models`)
  const { data } = (await response.json()) as { readonly data: readonly object[] }
  expect(response.status).toBe(200)
  for (const model of data) expect(model).not.toHaveProperty('pipeline')
})
