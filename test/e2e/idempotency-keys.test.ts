/** Requests with an `Idempotency-Key` on one gateway: sent once, answered once, whatever happens to the first client. */
import OpenAI from 'openai'
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions'
import type { Response as OpenaiResponse } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  answerWith,
  chatStream,
  responsesStream,
  type AnswerContent,
} from '../support/answer-formats.ts'
import { startGateway } from '../support/gateway.ts'
import { decodeFrames } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { answerJson, startUpstream, type Behaviour, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    BACKSTORY_KEYS: 'ada:ada-key,bob:bob-key',
    TRUST_USER_HEADERS: 'on',
    // Clients that have left may have opened connections that they do not use.
    DRAIN_SECONDS: '1',
    UPSTREAMS: JSON.stringify([
      { name: 'c', wire: 'chat', baseUrl: upstream.url, models: ['m'] },
      { name: 'r', wire: 'responses', baseUrl: upstream.url, models: ['r'] },
      { name: 'refusing', wire: 'chat', baseUrl: 'http://127.0.0.1:1/v1', models: ['refusing'] },
    ]),
  })
})
/** A short interval of heartbeats. The number of its uses shows that a request has begun to wait for another. */
let waits = 0
beforeAll(() => {
  const get = () => {
    waits += 1
    return 0.1
  }
  Object.defineProperty(gateway.dependencies.settings, 'HEARTBEAT_SECONDS', { get })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => void upstream.received.splice(0))

const ANSWER: AnswerContent = {
  reasoning: 'Hm.',
  text: 'Hello there.',
  calls: [{ id: 'call_1', name: 'look', arguments: '{"at":"Oslo"}' }],
}
const TOOL = { name: 'look', parameters: { type: 'object', properties: {} } }
const APIS = {
  chat: {
    path: '/v1/chat/completions',
    body: {
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'function', function: TOOL }],
    },
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'm', input: 'x', tools: [{ type: 'function', ...TOOL }] },
  },
} as const
type Api = keyof typeof APIS

interface Sent {
  readonly api?: Api
  readonly more?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

function send(key: string, { api = 'chat', more = {}, headers = {}, signal }: Sent = {}) {
  const { path, body } = APIS[api]
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer ada-key',
      'idempotency-key': key,
      ...headers,
    },
    body: JSON.stringify({ ...body, ...more }),
    signal: signal ?? null,
  })
}

/** What a client reads, in the same form for both APIs, and for streams and JSON. */
interface Read {
  readonly status: number
  readonly id?: string
  readonly text?: string
  readonly calls?: readonly string[]
  readonly error?: Readonly<Record<string, unknown>>
}

interface Failed {
  readonly id?: string
  readonly error?: Readonly<Record<string, unknown>>
}

async function read(response: Response, api: Api): Promise<Read> {
  const { status } = response
  const text = withoutHeartbeats(await response.text())
  if (!text.startsWith('{')) return { status, ...readStream(text, api) }
  const { error } = JSON.parse(text) as Failed
  if (error) return { status, error }
  if (api === 'responses') return { status, ...readOutput(JSON.parse(text) as OpenaiResponse) }
  const { id, choices } = JSON.parse(text) as ChatCompletion
  const calls = choices[0]?.message.tool_calls ?? []
  return {
    status,
    id,
    text: choices[0]?.message.content ?? '',
    calls: calls.map((call) => (call.type === 'function' ? call.function.arguments : '')),
  }
}

/** The stream without the comments that keep its connection alive. */
const withoutHeartbeats = (text: string) => text.replaceAll(': ping\n\n', '')

function readStream(text: string, api: Api): Omit<Read, 'status'> {
  const frames = decodeFrames(text)
  const events = frames.filter(({ data }) => data !== '[DONE]').map(({ data }) => data)
  if (api === 'chat') {
    expect(frames.length - events.length).toBe(1)
    return readChunks(events.map((data) => JSON.parse(data) as ChatCompletionChunk & Failed))
  }
  // The upstream of the model `r` sends fewer fields than OpenAI, and no `[DONE]`.
  const strictness = { sentinel: false, wholeResponses: false }
  expect(responsesFaults(frames, strictness)).toEqual([])
  const { response } = JSON.parse(events.at(-1) ?? '') as { readonly response: OpenaiResponse }
  return response.error ? { id: response.id, error: { ...response.error } } : readOutput(response)
}

function readChunks(chunks: readonly (ChatCompletionChunk & Failed)[]): Omit<Read, 'status'> {
  const id = chunks[0]?.id ?? ''
  const error = chunks.find((chunk) => chunk.error)?.error
  const choices = chunks.flatMap((chunk) => chunk.choices ?? [])
  expect(choices.filter(({ finish_reason }) => finish_reason)).toHaveLength(error ? 0 : 1)
  if (error) return { id, error }
  const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? [])
  return {
    id,
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    calls: [calls.map((call) => call.function?.arguments ?? '').join('')],
  }
}

function readOutput({ id, output }: OpenaiResponse): Omit<Read, 'status'> {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
  return {
    id,
    text: parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
    calls: output.flatMap((item) => (item.type === 'function_call' ? [item.arguments] : [])),
  }
}

/** An upstream that answers only after `release` is called. */
function answerLater(behaviour: Behaviour) {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  upstream.behave = async (response, received) => {
    await promise
    await behaviour(response, received)
  }
  return release
}

async function until(check: () => unknown): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('it did not happen')
}

const isAsked = () => upstream.received.length > 0
let keys = 0
const newKey = () => `key ${++keys}`
const COMPLETE = { status: 200, text: ANSWER.text, calls: ['{"at":"Oslo"}'] }

describe.each([
  ['chat', false, 'm'],
  ['chat', true, 'm'],
  ['responses', false, 'm'],
  ['responses', true, 'm'],
  ['responses', false, 'r'],
  ['responses', true, 'r'],
] as const)('an Idempotency-Key over %s with stream=%s to %s (C155)', (api, stream, model) => {
  const more = { model, stream }
  const otherForm = { model, stream: !stream }

  test('requests that come while the first is answered get its answer, each in its own form', async () => {
    const key = newKey()
    const release = answerLater(answerWith(ANSWER))
    const first = send(key, { api, more })
    await until(isAsked)
    const others = [send(key, { api, more }), send(key, { api, more: otherForm })]
    release()
    const [one, ...rest] = await Promise.all(
      [first, ...others].map(async (response) => read(await response, api)),
    )
    expect(one).toMatchObject(COMPLETE)
    expect(rest).toEqual([one, one])
    // The answer is stored, and given again in both forms.
    expect(await read(await send(key, { api, more }), api)).toEqual(one)
    expect(await read(await send(key, { api, more: otherForm }), api)).toEqual(one)
    expect(upstream.received).toHaveLength(1)
  })

  test('the answer continues when its client disconnects, and a retry gets it', async () => {
    const key = newKey()
    const release = answerLater(answerWith(ANSWER))
    const leave = new AbortController()
    const first = send(key, { api, more, signal: leave.signal }).catch(() => null)
    await until(isAsked)
    leave.abort()
    await first
    const retry = send(key, { api, more })
    release()
    expect(await read(await retry, api)).toMatchObject(COMPLETE)
    expect(await read(await send(key, { api, more }), api)).toMatchObject(COMPLETE)
    expect(upstream.received).toHaveLength(1)
  })

  test('a request that the upstream rejected, or did not receive, is sent again', async () => {
    const key = newKey()
    const release = answerLater(answerJson(429, { error: { message: 'Slow down.' } }))
    const first = send(key, { api, more })
    await until(isAsked)
    const second = send(key, { api, more })
    release()
    for (const response of await Promise.all([first, second])) {
      expect(await read(response, api)).toMatchObject({ status: 429 })
    }
    upstream.behave = answerWith(ANSWER)
    expect(await read(await send(key, { api, more }), api)).toMatchObject(COMPLETE)
    const refused = { api, more: { ...more, model: 'refusing' } }
    const other = newKey()
    for (let tries = 0; tries < 2; tries++) {
      const { status, error } = await read(await send(other, refused), api)
      expect([status, error?.['code']]).toEqual([502, 'upstream_unreachable'])
    }
  })

  test('a request whose connection broke after it was sent is not sent again', async () => {
    const key = newKey()
    upstream.behave = (response) => void response.destroy()
    const first = await read(await send(key, { api, more }), api)
    expect(first.status).toBe(502)
    const sent = upstream.received.length
    const { error } = await read(await send(key, { api, more }), api)
    expect(error?.['message']).toContain('send a new key')
    expect(upstream.received).toHaveLength(sent)
  })

  test('a request whose answer broke off is not sent again', async () => {
    const key = newKey()
    upstream.behave = (response, { json }) => {
      const isStream = json['stream'] === true
      response.writeHead(200, {
        'content-type': isStream ? 'text/event-stream' : 'application/json',
        'content-length': '9999',
      })
      const pieces = model === 'r' ? responsesStream(ANSWER) : chatStream(ANSWER)
      response.write(isStream ? pieces.slice(0, 2).join('') : '{"a":', () => response.destroy())
    }
    const first = await read(await send(key, { api, more }), api)
    expect(first.error).toBeDefined()
    for (const form of [more, otherForm]) {
      const { error } = await read(await send(key, { api, more: form }), api)
      expect(error).toBeDefined()
    }
    expect(upstream.received).toHaveLength(1)
  })

  test('an answer that may not be stored is shared while it is generated, and afterwards not available', async () => {
    const key = newKey()
    const release = answerLater(answerWith(ANSWER))
    const unstored = { ...more, store: false }
    const first = send(key, { api, more: unstored })
    await until(isAsked)
    const before = waits
    const joined = send(key, { api, more: { ...unstored, ...otherForm } })
    await until(() => waits > before)
    release()
    const one = await read(await first, api)
    expect(one).toMatchObject(COMPLETE)
    expect(await read(await joined, api)).toEqual(one)
    const late = await send(key, { api, more: unstored })
    expect(late.headers.get('x-should-retry')).toBe('false')
    expect(await read(late, api)).toMatchObject({
      status: 409,
      error: { code: 'idempotent_answer_not_available', param: 'Idempotency-Key' },
    })
    expect(upstream.received).toHaveLength(1)
  })
})

test.each(
  (['chat', 'responses'] as const).flatMap((api) =>
    [false, true].map((stream) => ({ api, stream })),
  ),
)('a task request of Open WebUI with a key stores no turn: $api, stream=$stream', async (sent) => {
  const { api, stream } = sent
  const { store, runs } = gateway.dependencies
  const opened = [vi.spyOn(store, 'openTurn'), vi.spyOn(runs, 'openRun')]
  upstream.behave = answerWith(ANSWER)
  const headers = { 'x-backstory-task': 'title_generation' }
  const key = newKey()
  expect(await read(await send(key, { api, headers, more: { stream } }), api)).toMatchObject(
    COMPLETE,
  )
  for (const spy of opened) expect(spy).not.toHaveBeenCalled()
  expect(await read(await send(key, { api, headers, more: { stream } }), api)).toMatchObject({
    status: 409,
    error: { code: 'idempotent_answer_not_available' },
  })
  for (const spy of opened) spy.mockRestore()
})

test('a key is valid for one body and one endpoint, and for one API key and user (C155)', async () => {
  const key = newKey()
  upstream.behave = answerWith(ANSWER)
  expect((await send(key)).status).toBe(200)
  for (const other of [{ more: { temperature: 0 } }, { api: 'responses' }] as const) {
    expect(await read(await send(key, other), 'chat')).toMatchObject({
      status: 422,
      error: { code: 'idempotency_key_reused', param: 'Idempotency-Key' },
    })
  }
  expect(upstream.received).toHaveLength(1)
  for (const headers of [{ authorization: 'Bearer bob-key' }, { 'x-backstory-user': 'ann' }]) {
    expect((await send(key, { headers, more: { temperature: 0 } })).status).toBe(200)
  }
  expect(upstream.received).toHaveLength(3)
})

test('a key with another body is rejected while the first request is answered (C155)', async () => {
  const key = newKey()
  const release = answerLater(answerWith(ANSWER))
  const first = send(key)
  await until(isAsked)
  expect((await send(key, { more: { temperature: 0 } })).status).toBe(422)
  release()
  expect((await first).status).toBe(200)
})

test.each([[''], ['  '], ['x'.repeat(256)], ['caf\xe9']])(
  'the invalid key %j is rejected with the name of the header (C155)',
  async (key) => {
    expect(await read(await send(key), 'chat')).toMatchObject({
      status: 400,
      error: { code: 'invalid_value', param: 'Idempotency-Key' },
    })
    expect(upstream.received).toHaveLength(0)
  },
)

test('a stream that waits for an answer gets heartbeats first (C155)', async () => {
  const key = newKey()
  const release = answerLater(answerWith(ANSWER))
  const first = send(key)
  await until(isAsked)
  const joined = await send(key, { more: { stream: true } })
  const reader = joined.body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader?.read())?.value).toBe(': ping\n\n')
  release()
  let text = ''
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
    text += part.value
  expect(readStream(withoutHeartbeats(text), 'chat')).toMatchObject({ text: ANSWER.text })
  expect((await first).status).toBe(200)
})

test('a stream that waits for a request that is rejected ends with one failure (C155)', async () => {
  const [key, other] = [newKey(), newKey()]
  const release = answerLater(answerJson(500, { error: { message: 'Broken.' } }))
  const firsts = [send(key), send(other, { api: 'responses' })]
  await until(() => upstream.received.length === 2)
  const joined = [
    await send(key, { more: { stream: true } }),
    await send(other, { api: 'responses', more: { stream: true } }),
  ]
  release()
  expect((await Promise.all(firsts)).map(({ status }) => status)).toEqual([500, 500])
  for (const [at, api] of (['chat', 'responses'] as const).entries()) {
    const response = joined[at] as Response
    expect(await read(response, api)).toMatchObject({
      error: { message: expect.stringContaining('Broken.') as string },
    })
  }
})

test.each([['chat'], ['responses']] as const)(
  'a stream over %s continues when its client leaves in the middle (C155)',
  async (api) => {
    const key = newKey()
    const { promise, resolve: release } = Promise.withResolvers<void>()
    upstream.behave = async (response) => {
      const pieces = chatStream(ANSWER)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(pieces.slice(0, 4).join(''))
      await promise
      response.end(pieces.slice(4).join(''))
    }
    const leave = new AbortController()
    const more = { stream: true, ...(api === 'chat' ? { store: true } : {}) }
    const first = await send(key, { api, more, signal: leave.signal })
    expect((await first.body?.getReader().read())?.done).toBe(false)
    leave.abort()
    const retry = send(key, { api, more })
    release()
    expect(await read(await retry, api)).toMatchObject(COMPLETE)
    expect(upstream.received).toHaveLength(1)
  },
)

test('a response is added to its conversation once, however often it is requested (C155)', async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'ada-key' })
  const { id } = await client.conversations.create({})
  const key = newKey()
  upstream.behave = answerWith({ text: 'Hello.' })
  const ask = () => send(key, { api: 'responses', more: { conversation: id, tools: [] } })
  const answers = await Promise.all(
    [ask(), ask(), ask()].map(async (sent) => read(await sent, 'responses')),
  )
  expect(answers[0]).toMatchObject({ status: 200, text: 'Hello.' })
  expect(new Set(answers.map((answer) => answer.id)).size).toBe(1)
  const items = await client.conversations.items.list(id)
  expect(items.data.map(({ type }) => type)).toEqual(['message', 'message'])
  expect(upstream.received).toHaveLength(1)
})

test('a repeated answer names the tools that the model was offered, as the first does (C155)', async () => {
  upstream.behave = answerWith({ text: 'Hello.' })
  const more = { tools: [{ type: 'web_search' }], tool_choice: 'auto' }
  const key = newKey()
  const readTools = async (store: boolean) => {
    const response = await send(key, { api: 'responses', more: { ...more, store } })
    return ((await response.json()) as OpenaiResponse).tools
  }
  expect(await Promise.all([readTools(true), readTools(true)])).toEqual([[], []])
  expect(await readTools(true)).toEqual([])
})

test('a background response with a key is started once (C155)', async () => {
  const key = newKey()
  const release = answerLater(answerWith(ANSWER))
  const ask = (stream: boolean) =>
    send(key, { api: 'responses', more: { background: true, stream } })
  const readStatus = async (sent: Promise<Response>) => {
    const { id, status } = (await (await sent).json()) as OpenaiResponse
    return { id, status }
  }
  const [one, two] = await Promise.all([readStatus(ask(false)), readStatus(ask(false))])
  expect(two.id).toBe(one.id)
  expect(one.status).toBe('queued')
  const stream = ask(true)
  release()
  expect(await read(await stream, 'responses')).toMatchObject({ ...COMPLETE, id: one.id })
  expect(await readStatus(ask(false))).toEqual({ id: one.id, status: 'completed' })
  expect(upstream.received).toHaveLength(1)
})

test('after an answer was deleted, a retry gets an error, and the request is not sent again (C155)', async () => {
  const key = newKey()
  upstream.behave = answerWith(ANSWER)
  const { id } = await read(await send(key, { api: 'responses' }), 'responses')
  await fetch(`${gateway.url}/v1/responses/${id ?? ''}`, {
    method: 'DELETE',
    headers: { authorization: 'Bearer ada-key' },
  })
  expect((await send(key, { api: 'responses' })).status).toBe(409)
  expect(upstream.received).toHaveLength(1)
})

test('several choices of one completion are not returned again, because only the first is stored (C155)', async () => {
  const key = newKey()
  upstream.behave = answerWith(ANSWER)
  expect((await send(key, { more: { n: 2 } })).status).toBe(200)
  for (const stream of [false, true])
    expect((await send(key, { more: { n: 2, stream } })).status).toBe(409)
  expect(upstream.received).toHaveLength(1)
})

test('a request without a key makes no query for keys (C155)', async () => {
  const { idempotency } = gateway.dependencies
  const calls: string[] = []
  const watched = new Proxy(idempotency, {
    get(store, name: keyof typeof idempotency) {
      calls.push(name)
      return store[name]
    },
  })
  Object.assign(gateway.dependencies, { idempotency: watched })
  upstream.behave = answerWith(ANSWER)
  await gateway.post('/v1/responses', APIS.responses.body, { authorization: 'Bearer ada-key' })
  expect(calls).toEqual([])
  await send(newKey())
  expect(calls).toContain('claimKey')
  Object.assign(gateway.dependencies, { idempotency })
})

test('while the database does not answer, a request with a key is not sent (C155)', async () => {
  const { idempotency } = gateway.dependencies
  const claimKey = () => Promise.reject(new Error('down'))
  Object.assign(gateway.dependencies, { idempotency: { ...idempotency, claimKey } })
  const key = newKey()
  expect((await send(key)).status).toBe(503)
  Object.assign(gateway.dependencies, { idempotency })
  expect(upstream.received).toHaveLength(0)
  upstream.behave = answerWith(ANSWER)
  expect((await send(key)).status).toBe(200)
})

test("a web page may send the header, as the browser's preflight request shows (C155)", async () => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://page.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'idempotency-key',
    },
  })
  expect(response.headers.get('access-control-allow-headers')).toContain('idempotency-key')
})

/** The official SDK sends a key with each request, the same for its retries, once it knows the header. */
class RetryingClient extends OpenAI {
  protected override idempotencyHeader = 'Idempotency-Key'
}

describe('the official SDK that sends keys (C155)', () => {
  const connect = () => new RetryingClient({ baseURL: `${gateway.url}/v1`, apiKey: 'ada-key' })

  test('retries of the SDK after its time limit get the answer of the first request', async () => {
    const release = answerLater(answerWith({ text: 'Hello.' }))
    const client = connect()
    const answer = client.responses.create(
      { model: 'm', input: 'x' },
      { timeout: 300, maxRetries: 9 },
    )
    await until(isAsked)
    setTimeout(release, 700)
    expect((await answer).output_text).toBe('Hello.')
    expect(upstream.received).toHaveLength(1)
  })

  test('the option idempotencyKey makes a request repeatable, also as a stream', async () => {
    upstream.behave = answerWith({ text: 'Hello.' })
    const client = connect()
    const idempotencyKey = newKey()
    const messages = [{ role: 'user' as const, content: 'x' }]
    const whole = await client.chat.completions.create({ model: 'm', messages }, { idempotencyKey })
    const streamed = await client.chat.completions
      .stream({ model: 'm', messages }, { idempotencyKey })
      .finalChatCompletion()
    expect(streamed.id).toBe(whole.id)
    expect(streamed.choices[0]?.message.content).toBe('Hello.')
    await expect(
      client.chat.completions.create({ model: 'm', messages: [] }, { idempotencyKey }),
    ).rejects.toMatchObject({ status: 400 })
    await expect(
      client.chat.completions.create({ model: 'm', messages, n: 1 }, { idempotencyKey }),
    ).rejects.toMatchObject({ status: 422 })
    expect(upstream.received).toHaveLength(1)
  })

  test('the SDK does not repeat a request that may have been processed, and its error says what to do', async () => {
    upstream.behave = (response) => void response.destroy()
    const client = connect()
    const sent = client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
    })
    await expect(sent).rejects.toMatchObject({
      status: 409,
      code: 'idempotent_answer_not_available',
    })
  })
})
