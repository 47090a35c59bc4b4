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
