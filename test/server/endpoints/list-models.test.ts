/** The merged list of models, which Open WebUI requests on every page. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listModels } from '../../../src/server/endpoints/list-models.ts'
import { startGateway } from '../../support/gateway.ts'
import { answerJson, startUpstream, type Upstream } from '../../support/upstream.ts'

let quick: Upstream
let slow: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeEach(async () => {
  quick = await startUpstream()
  slow = await startUpstream(() => undefined)
  gateway = await startGateway({
    UPSTREAMS: JSON.stringify([
      { name: 'quick', wire: 'chat', models: ['*'], baseUrl: quick.url },
      { name: 'slow', wire: 'chat', models: ['named', 'a*'], baseUrl: slow.url },
    ]),
    MODELS: '{"best":["a"]}',
  })
})
afterEach(async () => {
  await gateway.close()
  await quick.close()
  await slow.close()
})

const listed = async () => (await listModels(gateway.dependencies, 1000))['data']

test('GET /v1/models lists all configured model names, and the models of upstreams that answer in time', async () => {
  quick.behave = answerJson(200, { data: [{ id: 'a', context_length: 5 }] })
  expect(await listed()).toEqual([
    { id: 'best', object: 'model', created: 0, owned_by: 'backstory' },
    { id: 'a', object: 'model', created: 0, owned_by: 'quick', context_length: 5 },
    { id: 'named', object: 'model', created: 0, owned_by: 'slow' },
  ])
  expect(gateway.log).toContainEqual(
    expect.objectContaining({
      event: 'models-not-listed',
      fields: { upstream: 'slow', why: 'The upstream took too long to list them.' },
    }),
  )
  await slow.received[0]?.aborted
})

test('GET /v1/models does not wait for an upstream that stops in the middle of its answer', async () => {
  quick.behave = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"data":[')
  }
  expect(await listed()).toEqual([
    expect.objectContaining({ id: 'best' }),
    expect.objectContaining({ id: 'named' }),
  ])
})

test('GET /v1/models leaves out models without an id, names that are null, and unknown fields', async () => {
  quick.behave = answerJson(200, {
    data: [
      { id: 7 },
      { id: 'a', name: null, owned_by: null, pipeline: { type: 'filter' }, info: {}, error: 'no' },
      { id: '' },
      'b',
    ],
  })
  expect(await listed()).toEqual([
    expect.objectContaining({ id: 'best' }),
    { id: 'a', object: 'model', created: 0, owned_by: 'quick' },
    expect.objectContaining({ id: 'named' }),
  ])
})

test('GET /v1/models lists a model of two upstreams only once, with the fields from the first upstream', async () => {
  quick.behave = answerJson(200, { data: [{ id: 'a', name: 'First' }] })
  slow.behave = answerJson(200, { data: [{ id: 'a', name: 'Second' }, { id: 'ab' }] })
  expect(await listed()).toMatchObject([
    { id: 'best' },
    { id: 'a', name: 'First' },
    { id: 'named' },
    { id: 'ab' },
  ])
})

test('GET /v1/models lists the demo model if an upstream of the demo wire serves it', async () => {
  const demo = { name: 'scripted', wire: 'demo' }
  const listOf = async (models: readonly string[]) => {
    const demoGateway = await startGateway({ UPSTREAMS: JSON.stringify([{ ...demo, models }]) })
    const list = await listModels(demoGateway.dependencies, 1000)
    await demoGateway.close()
    return list['data']
  }
  const listedDemo = [{ id: 'demo', object: 'model', created: 0, owned_by: 'scripted' }]
  expect(await listOf(['*'])).toEqual(listedDemo)
  expect(await listOf(['demo', 'd*'])).toEqual(listedDemo)
  expect(await listOf(['other-*'])).toEqual([])
})

const unreachable: Upstream['behave'] = (response) => void response.destroy()

test.each([
  ['is not reachable', unreachable],
  ['does not answer in time', () => undefined],
  ['is overloaded', answerJson(529, { error: { message: 'Overloaded' } })],
  ['answers with a web page', answerJson(502, '<html>Bad gateway</html>')],
] as const)(
  'GET /v1/models lists the last known models of an upstream that %s',
  async (_, behave) => {
    slow.behave = answerJson(200, { data: [] })
    quick.behave = answerJson(200, { data: [{ id: 'a' }, { id: 'b' }] })
    const known = await listed()
    expect(known).toMatchObject([{ id: 'best' }, { id: 'a' }, { id: 'b' }, { id: 'named' }])
    quick.behave = behave
    expect(await listed()).toEqual(known)
    quick.behave = answerJson(200, { data: [{ id: 'b' }] })
    expect(await listed()).toMatchObject([{ id: 'best' }, { id: 'b' }, { id: 'named' }])
  },
)

test('GET /v1/models lists no models of an upstream that rejects the key', async () => {
  slow.behave = answerJson(200, { data: [] })
  quick.behave = answerJson(200, { data: [{ id: 'a' }] })
  await listed()
  quick.behave = answerJson(401, { error: { message: 'Incorrect API key provided.' } })
  expect(await listed()).toMatchObject([{ id: 'best' }, { id: 'named' }])
})

test('GET /v1/models lists the models of Anthropic and Gemini by their ids, with the names that people know', async () => {
  const others = await startGateway({
    UPSTREAMS: JSON.stringify([
      { name: 'claude', wire: 'anthropic', models: ['*'], baseUrl: quick.url },
      { name: 'gemini', wire: 'gemini', models: ['gemini-*'], baseUrl: slow.url },
    ]),
  })
  const anthropicModel = { type: 'model', id: 'claude-opus-5-5', display_name: 'Claude Opus 5.5' }
  quick.behave = answerJson(200, {
    data: [{ ...anthropicModel, created_at: '2026-02-04T00:00:00Z' }],
  })
  slow.behave = answerJson(200, {
    models: [
      { name: 'models/gemini-3-pro', displayName: 'Gemini 3 Pro' },
      { name: 'models/gemini-3-flash' },
    ],
  })
  const { data } = await listModels(others.dependencies, 1000)
  expect(data).toEqual([
    {
      id: 'claude-opus-5-5',
      object: 'model',
      created: 1_770_163_200,
      owned_by: 'claude',
      name: 'Claude Opus 5.5',
    },
    { id: 'gemini-3-pro', object: 'model', created: 0, owned_by: 'gemini', name: 'Gemini 3 Pro' },
    { id: 'gemini-3-flash', object: 'model', created: 0, owned_by: 'gemini' },
  ])
  const one = await fetch(`${others.url}/v1/models/models/gemini-3-pro`)
  expect(await one.json()).toMatchObject({ id: 'gemini-3-pro' })
  await others.close()
})
