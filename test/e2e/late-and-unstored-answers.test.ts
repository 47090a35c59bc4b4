/**
 * Checks what a client receives if its answer could not be stored, and what is stored of answers whose clients send
 * special headers.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { turnIdOfResponse } from '../../src/core/turn-derived-ids.ts'
import { makeStoreFail, NO_FAULTS, type FailingStore } from '../support/failing-store.ts'
import { startGateway } from '../support/gateway.ts'
import { answerJson, answerSse, startUpstream, type Upstream } from '../support/upstream.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let upstream: Upstream
let failing: FailingStore
beforeAll(async () => {
  upstream = await startUpstream()
  const account = { baseUrl: upstream.url, apiKey: 'sk-upstream' }
  gateway = await startGateway(
    {
      UPSTREAMS: JSON.stringify([
        {
          name: 'r',
          wire: 'responses',
          models: ['r'],
          quirks: { completeResponses: true },
          ...account,
        },
        { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } },
      ]),
    },
    { unexplained: 'Answers are not stored here.' },
  )
  failing = makeStoreFail(gateway.dependencies)
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => {
  failing.faultRule = NO_FAULTS
})

/** A response object of an upstream that does not know the field `store`. */
const RESPONSE = {
  id: 'resp_upstream',
  object: 'response',
  model: 'r',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'A cat.', annotations: [] }],
    },
  ],
}
const sse = (event: { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

test.each([
  ['whole', false],
  ['streamed', true],
])('an answer that could not be stored says `store: false`: %s', async (_, stream) => {
  upstream.behave = stream
    ? answerSse([
        sse({
          type: 'response.created',
          response: { ...RESPONSE, status: 'in_progress', output: [] },
        } as never),
        sse({ type: 'response.completed', response: RESPONSE } as never),
      ])
    : answerJson(200, RESPONSE)
  failing.faultRule = (verb) => (verb === 'openTurn' ? 'fails' : 'none')
  const late = await (
    await gateway.post('/v1/responses', { model: 'r', input: 'Hi', stream })
  ).text()
  expect(late.match(/"store":\w+/g)).toEqual(
    stream ? ['"store":false', '"store":false'] : ['"store":false'],
  )
  failing.faultRule = NO_FAULTS
  const stored = await (
    await gateway.post('/v1/responses', { model: 'r', input: 'Hi', stream })
  ).text()
  expect(new Set(stored.match(/"store":\w+/g))).toEqual(new Set(['"store":true']))
  // A client that requested `store: false` gets the bytes of the upstream, without the field.
  const body = { model: 'r', input: 'Hi', stream, store: false }
  expect(await (await gateway.post('/v1/responses', body)).text()).not.toContain('"store"')
})

test('an answer that had to be stored and could not be kept is an error with `retry-after`', async () => {
  failing.faultRule = (verb) => (verb === 'closeTurn' ? 'fails' : 'none')
  const body = { model: 'demo', input: 'Hi', store: true }
  const response = await gateway.post('/v1/responses', body)
  expect(response.status).toBe(503)
  expect(await response.text()).toContain('could not be kept')
  expect(response.headers.get('retry-after')).toBe('1')
})

test.each<[string, Record<string, string>, object?]>([
  ['without other headers', {}],
  ['with an Idempotency-Key', { 'idempotency-key': 'k1' }],
  ['in the background', {}, { background: true }],
  ['as a stream that can be resumed', { 'x-backstory-resumable': 'true' }, { stream: true }],
])('a turn of a temporary chat is stored as temporary: %s', async (_, headers, more = {}) => {
  const body = { model: 'demo', input: 'Hi', ...more }
  const chat = { 'x-backstory-chat': 'temporary:a1' }
  const text = await (await gateway.post('/v1/responses', body, { ...chat, ...headers })).text()
  const turnId = turnIdOfResponse(/"id":"(resp_\w+)"/.exec(text)?.[1] ?? '') ?? ''
  const caller = { tenant: 'local', user: null }
  const chain = await gateway.dependencies.store.loadChain(caller, turnId)
  expect(chain?.at(-1)).toMatchObject({ id: turnId, isTemporary: true })
})
