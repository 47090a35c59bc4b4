/**
 * Retries and fallbacks: the gateway may try several upstreams before the first byte, and the client sees one
 * answer.
 */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { answerJson, answerSse, startUpstream, type Upstream } from '../support/upstream.ts'
import { chatStream, answerWith } from '../support/answer-formats.ts'

let first: Upstream
let second: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  first = await startUpstream()
  second = await startUpstream(answerWith({ text: 'From the second.' }))
  gateway = await startGateway({
    MODELS: JSON.stringify({
      best: ['one/big', 'two/small'],
      roomy: ['one/big', 'narrow/tiny', 'two/small'],
      moved: ['gone/big', 'two/small'],
      cramped: ['one/big', 'narrow/tiny'],
    }),
    UPSTREAMS: JSON.stringify([
      { name: 'one', wire: 'responses', baseUrl: first.url, models: ['big'] },
      {
        name: 'narrow',
        wire: 'chat',
        baseUrl: second.url,
        models: ['tiny'],
        quirks: { contextWindow: 100 },
      },
      // On port 9 no server listens.
      { name: 'gone', wire: 'responses', baseUrl: 'http://127.0.0.1:9/v1', models: ['big'] },
      { name: 'two', wire: 'chat', baseUrl: second.url, models: ['small'] },
      {
        name: 'soft',
        wire: 'chat',
        baseUrl: first.url,
        models: ['soft'],
        quirks: { degrade: true },
      },
    ]),
  })
})
afterAll(async () => {
  await gateway.close()
  await first.close()
  await second.close()
})
beforeEach(() => {
  first.received.splice(0)
  second.received.splice(0)
})

const rejectWith = (status: number, message = 'no') =>
  answerJson(status, { error: { message, type: 'x', param: null, code: null } })

test('if no other upstream is left, the log names the upstream that failed and the reason', async () => {
  first.behave = rejectWith(503, 'Full.')
  const before = gateway.log.length
  const { status, headers } = await gateway.post('/v1/responses', { model: 'big', input: 'Hi' })
  expect(status).toBe(503)
  const request = headers.get('x-request-id')
  const fields = { request, upstream: 'one', why: expect.stringContaining('Full.') as string }
  expect(gateway.log.slice(before)).toEqual([{ level: 'warn', event: 'upstream-failed', fields }])
})

test.each([500, 503, 429, 401, 404])(
  'after status %i the next upstream gets the request in its own wire format',
  async (status) => {
    first.behave = rejectWith(status)
    const answer = await gateway.openai.responses.create({ model: 'best', input: 'Hi' })
    expect(answer.output_text).toBe('From the second.')
    expect(first.received[0]?.json).toMatchObject({
      model: 'big',
      input: expect.anything() as unknown,
    })
    expect(second.received[0]?.json).toMatchObject({
      model: 'small',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    const [turn] =
      (await gateway.dependencies.store.loadChain(
        { tenant: 'local', user: null },
        answer.id.slice(5),
      )) ?? []
    expect(turn?.origin).toMatchObject({ account: 'two', wire: 'chat', model: 'small' })
  },
)

test('an upstream that cannot be reached is skipped, for a stream as well', async () => {
  const stream = gateway.openai.responses.stream({ model: 'moved', input: 'Hi' })
  expect((await stream.finalResponse()).output_text).toBe('From the second.')
})

test('a fallback whose window is too small for the request is skipped; if none is left, the client gets the first error', async () => {
  first.behave = rejectWith(503, 'Full.')
  const input = 'So much to say. '.repeat(200)
  const before = gateway.log.length
  const answer = await gateway.openai.responses.create({ model: 'roomy', input })
  expect(answer.output_text).toBe('From the second.')
  expect(gateway.log.slice(before).map(({ fields }) => fields?.['upstream'])).toEqual([
    'one',
    'narrow',
  ])
  second.received.splice(0)
  const { status } = await gateway.post('/v1/responses', { model: 'cramped', input })
  expect(status).toBe(503)
  expect(second.received).toEqual([])
})

test('a non-streamed answer that reports a failure closes its turn once, as failed', async () => {
  first.behave = answerJson(200, { error: { message: 'Oh no.', type: 'x' } })
  const closed = vi.spyOn(gateway.dependencies.store, 'closeTurn')
  const { status } = await gateway.post('/v1/responses', { model: 'big', input: 'Hi' })
  expect(status).toBeGreaterThanOrEqual(500)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(closed.mock.calls.map(([{ state }]) => state)).toEqual(['failed'])
  closed.mockRestore()
})

test.each([
  ['/v1/responses', { model: 'small', input: 'Hi' }],
  ['/v1/chat/completions', { model: 'small', messages: [{ role: 'user', content: 'Hi' }] }],
])(
  'the log names an upstream that breaks off in the middle of its answer, for %s',
  async (path, body) => {
    second.behave = answerSse(chatStream({ text: 'From the second.' }).slice(0, 3), 'reset', 20)
    const before = gateway.log.length
    const ids: (string | null)[] = []
    for (const stream of [true, false]) {
      const response = await gateway.post(path, { ...body, stream })
      ids.push(response.headers.get('x-request-id'))
      await response.text()
    }
    const why = expect.stringContaining('broke') as string
    expect(gateway.log.slice(before)).toEqual(
      ids.map((request) => ({
        level: 'warn',
        event: 'answer-failed',
        fields: { request, upstream: 'two', code: 'upstream_broken', why },
      })),
    )
    second.behave = answerWith({ text: 'From the second.' })
  },
)

test('a request that is itself invalid is not sent to a second upstream', async () => {
  first.behave = rejectWith(400, 'Bad request.')
  await expect(gateway.openai.responses.create({ model: 'best', input: 'Hi' })).rejects.toThrow(
    'Bad request.',
  )
  expect(second.received).toHaveLength(0)
})

test('if all upstreams fail, the client gets the error of the last one', async () => {
  first.behave = rejectWith(500, 'first')
  second.behave = rejectWith(503, 'second')
  const error = await gateway.openai.responses
    .create({ model: 'best', input: 'Hi' })
    .catch((error: unknown) => error)
  expect(error).toMatchObject({ status: 503 })
  second.behave = answerWith({ text: 'From the second.' })
})

test('a parameter that the upstream rejects by name is dropped, if the account allows it', async () => {
  first.behave = (response, received) => {
    const { min_p, top_k } = received.json
    if (min_p !== undefined || top_k !== undefined) {
      return rejectWith(400, 'Unsupported parameters: min_p and top_k.')(response, received)
    }
    return answerWith({ text: 'Fine.' })(response, received)
  }
  const body = {
    model: 'soft',
    messages: [{ role: 'user', content: 'x' }],
    min_p: 0.1,
    top_k: 5,
    seed: 1,
  }
  const response = await gateway.post('/v1/chat/completions', body)
  expect(response.status).toBe(200)
  expect(response.headers.get('x-backstory-dropped')).toBe('top_k, min_p')
  expect(first.received.map(({ json }) => Object.keys(json).toSorted())).toEqual([
    ['messages', 'min_p', 'model', 'seed', 'top_k'],
    ['messages', 'model', 'seed'],
  ])
})

test('a rejected parameter is not sent again in a later tool round', async () => {
  first.behave = (response, received) =>
    received.json['top_k'] === undefined
      ? answerWith(
          first.received.length < 5
            ? {
                calls: [{ id: 'call_0', name: 'expand_output', arguments: '{"call_id":"call_a"}' }],
              }
            : { text: 'Fine.' },
        )(response, received)
      : rejectWith(400, 'Unsupported parameter: top_k.')(response, received)
  const look = { name: 'look', arguments: '{}' }
  const response = await gateway.post('/v1/chat/completions', {
    model: 'soft',
    messages: [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_a', type: 'function', function: look }],
      },
      { role: 'tool', tool_call_id: 'call_a', content: 'x'.repeat(9000) },
    ],
    top_k: 5,
    backstory: { policy: 'capped' },
  })
  expect(response.status).toBe(200)
  const request = first.received.map(({ json }) => 'top_k' in json)
  expect(request).toEqual([true, false, false, false, false])
})

test('a rejected parameter that may not be dropped is an error for the client', async () => {
  first.behave = rejectWith(400, 'Unsupported parameter: max_tokens.')
  const body = { model: 'soft', messages: [{ role: 'user', content: 'x' }], max_tokens: 5 }
  expect((await gateway.post('/v1/chat/completions', body)).status).toBe(400)
  expect(first.received).toHaveLength(1)
})
