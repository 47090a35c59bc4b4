/** Connections to `/v1/responses`, as they are and "stateful", and what else a connection may be set to. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTown, type Town } from '../../support/open-webui/town.ts'

let town: Town
beforeAll(async () => void (town = await startTown()))
afterAll(() => town.close())

const MODELS = ['gpt-5', 'claude-opus-5'] as const
const WAYS = (['responses', 'stateful'] as const).flatMap((connection) =>
  MODELS.map((model) => ({ connection, model })),
)

describe.concurrent.each(WAYS)('a $connection connection, $model', ({ connection, model }) => {
  test('remembers what its conversion drops (C126)', async () => {
    const story = town.story({ connection }, { model, system: 'You are a lighthouse.' })
    await story.ask('RTCC|RC|RT')
    await story.ask('RC|RT')
    await story.regenerate('RT')
    await story.ask('RTRT')
    await story.ask('R~T')
    await story.goOn('RT')
    await story.editQuestion('RT')
    await story.ask('RT')
    expect(story.trouble()).toEqual([])
  })

  test('remembers both halves of an answer that was continued', async () => {
    const story = town.story({ connection }, { model })
    await story.ask('RT')
    await story.goOn('T')
    await story.ask('RC|RTRT')
    await story.goOn('RT')
    await story.ask('RT')
    expect(story.trouble()).toEqual([])
  })
})

test.concurrent.each(MODELS)(
  'a connection that keeps reasoning does not say it twice, %s',
  async (model) => {
    const story = town.story({ keepsReasoning: true }, { model })
    await story.ask('RC|RT')
    await story.ask('RTRT')
    await story.ask('RT')
    expect(story.trouble()).toEqual([])
  },
)

test.concurrent('several models answer at once, and each chat goes on with one of them', async () => {
  const story = town.story()
  const [first, second] = await story.askAll({ 'gpt-5': 'RC|RT', 'claude-opus-5': 'RT' })
  await story.ask('RT')
  expect(story.chat.tree().get(first?.node.id ?? '')).toMatchObject({ model: 'gpt-5' })
  expect(story.trouble()).toEqual([])
  story.chat.goTo(second?.node.id ?? '')
  await story.ask('RT')
  expect([...story.gaps, ...story.faults]).toEqual([])
  expect(story.explained).toHaveLength(1)
})

test.concurrent('the words of one upstream reach another, and its sealed reasoning does not (C98)', async () => {
  const story = town.story()
  await story.askAll({ 'gpt-5': 'RC|RT', 'claude-opus-5': 'T' })
  const other = await story.askAll({ 'claude-opus-5': 'RT' })
  expect(other[0]?.node.error).toBeNull()
  expect([...story.faults, ...story.gaps]).toEqual([])
  expect(story.explained).toMatchObject([{ step: 'ask claude-opus-5 RT', strange: [] }])
  expect(story.explained[0]?.missing).toHaveLength(2)
})

test.concurrent.each([
  ['gpt-5', 'developer', 'max_completion_tokens'],
  ['claude-opus-4-6', 'system', 'max_tokens'],
])('what a person has set by hand reaches %s, whatever it is called', async (model, role, most) => {
  const params = { max_tokens: 4000, stop: ['END'], reasoning_effort: 'high' }
  const story = town.story({ params }, { model, system: 'SYS' })
  const { rounds } = await story.ask('RT')
  await story.ask('RT')
  expect(rounds[0]?.body).toMatchObject({ [most]: 4000, messages: [{ role, content: 'SYS' }, {}] })
  expect(JSON.stringify(story.received.at(-1))).toMatch(/SYS.*Q|Q.*SYS/)
  expect(story.trouble()).toEqual([])
})

test.concurrent('the list of models is one that Open WebUI takes (C126)', async () => {
  const response = await fetch(`${town.gateway.url}/v1/models`)
  const { data } = (await response.json()) as { readonly data: readonly object[] }
  expect(response.status).toBe(200)
  for (const model of data) expect(model).not.toHaveProperty('pipeline')
})
