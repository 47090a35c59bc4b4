/**
 * Large requests are rejected before they are parsed if they exceed a limit of their own, or if too little memory is
 * left beside the requests in progress.
 */
import { connect } from 'node:net'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { formatMarkerLine } from '../../src/core/markers/format-and-extract-markers.ts'
import { turnIdOfCompletion } from '../../src/core/turn-derived-ids.ts'
import { startGateway } from '../support/gateway.ts'
import { startUpstream, type Received, type Upstream } from '../support/upstream.ts'
import { connect as openSocket } from '../support/socket-client.ts'

const LIMITS = { MAX_BODY_MB: '2', MAX_BODY_ITEMS: '100', MAX_BODY_VALUES: '2000' }
const ADA = { authorization: 'Bearer key-of-ada' }
const GRACE = { authorization: 'Bearer key-of-grace' }

const poll = <Value>(read: () => Value) => expect.poll(read, { timeout: 10_000 })

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
/** The requests that the upstream has received and not answered. */
const waiting: (() => void)[] = []
let isHolding = false

beforeAll(async () => {
  upstream = await startUpstream((response, { path }) => {
    const answer = () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(path.endsWith('/chat/completions') ? CHAT_ANSWER : '{"data":[]}')
    }
    if (isHolding) waiting.push(answer)
    else answer()
  })
  gateway = await startGateway({
    ...LIMITS,
    // Room for one request of 1 MB and none besides it, and for one of each key.
    REQUEST_MEMORY_MB: '14',
    BACKSTORY_KEYS: 'ada:key-of-ada,grace:key-of-grace',
    UPSTREAMS: JSON.stringify([{ name: 'a', wire: 'chat', baseUrl: upstream.url, models: ['m'] }]),
  })
})
afterEach(async () => {
  isHolding = false
  for (const answer of waiting.splice(0)) answer()
  await poll(hasRoomForLargeRequest).toBe(true)
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const CHAT_ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } }],
})

const message = { role: 'user', content: 'hi' }
const chat = (messages: unknown) => ({ model: 'm', messages })
const bigChat = chat([{ role: 'user', content: 'x'.repeat(1_000_000) }])

function repeat<Value>(value: Value, length: number): readonly Value[] {
  return Array.from({ length }, () => value)
}

async function post(path: string, body: unknown, headers: Record<string, string> = ADA) {
  const response = await gateway.post(path, body, headers)
  const { error } = (await response.json()) as { error?: Received['json'] }
  return { status: response.status, headers: response.headers, error }
}

function hasRoomForLargeRequest(): boolean {
  const memory = gateway.dependencies.requestMemory.trackRequest('ada')
  try {
    memory.claim({ bytes: 1_000_000 })
    return true
  } catch {
    return false
  } finally {
    memory.release()
  }
}

describe('limits of one body (C146, C158)', () => {
  test.each([
    ['a list with too many items', '/v1/chat/completions', chat(repeat(message, 101)), 413],
    ['too many values', '/v1/chat/completions', chat([{ ...message, more: repeat(1, 2001) }]), 413],
    ['too deep nesting', '/v1/responses', `{"input":${'['.repeat(600)}`, 400],
    ['too deep nesting in a forwarded request', '/v1/embeddings', '['.repeat(600), 400],
    ['too many values in a stored object', '/v1/conversations', { items: repeat({}, 101) }, 413],
    [
      'too many items',
      '/v1/responses/input_tokens',
      { model: 'm', input: repeat(message, 101) },
      413,
    ],
  ])(
    'a request with %s is rejected with a message that names the limit',
    async (_, path, body, status) => {
      const before = upstream.received.length
      const rejected = await post(path, body)
      expect(rejected.status).toBe(status)
      expect(rejected.error?.['message']).toMatch(/MAX_BODY_ITEMS|MAX_BODY_VALUES|500 levels/)
      expect(upstream.received).toHaveLength(before)
    },
  )

  test('a forwarded form that consists of field names is searched once', async () => {
    const form = 'name="model"\n'.repeat(100_000)
    const headers = { ...ADA, 'content-type': 'multipart/form-data; boundary=x' }
    expect((await post('/v1/audio/transcriptions', form, headers)).status).toBe(200)
  })

  test('a message of a WebSocket has the limits of a body', async () => {
    const socket = await openSocket(gateway.url, { headers: ADA })
    const input = repeat(message, 101)
    const { refusal } = await socket.ask({ type: 'response.create', model: 'm', input })
    expect(refusal).toBe('413 request_too_large')
    socket.socket.close()
  })

  test('hundreds of thousands of markers in a text are no error', async () => {
    const marker = '[0123456789ABCDEFGHJK]: #\n'
    const answer = { role: 'assistant', content: marker.repeat(70_000) }
    expect((await post('/v1/chat/completions', chat([message, answer, message]))).status).toBe(200)
  })
})

describe('memory of all requests in progress (C158)', () => {
  test('while a large request of a key is in progress, another one of the same key gets 429 with retry-after, and another key is served', async () => {
    isHolding = true
    const first = post('/v1/chat/completions', bigChat)
    await poll(() => waiting.length).toBe(1)
    for (const path of ['/v1/chat/completions', '/v1/embeddings', '/v1/conversations']) {
      const second = await post(path, bigChat)
      expect(second).toMatchObject({ status: 429, error: { code: 'rate_limit_exceeded' } })
      expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    const other = post('/v1/chat/completions', bigChat, GRACE)
    await poll(() => waiting.length).toBe(2)
    // Small requests are served all the same.
    const small = post('/v1/chat/completions', chat([message]))
    await poll(() => waiting.length).toBe(3)
    for (const answer of waiting.splice(0)) answer()
    for (const { status } of await Promise.all([first, other, small])) expect(status).toBe(200)
    isHolding = false
    await poll(async () => (await post('/v1/chat/completions', bigChat)).status).toBe(200)
  })

  test('a body of unknown size counts while it arrives, and its memory is free when its client leaves', async () => {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer key-of-ada\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    socket.write(`f4240\r\n${'x'.repeat(1_000_000)}\r\n`)
    await poll(hasRoomForLargeRequest).toBe(false)
    expect((await post('/v1/chat/completions', bigChat)).status).toBe(429)
    socket.destroy()
    await once(socket, 'close')
    await poll(async () => (await post('/v1/chat/completions', bigChat)).status).toBe(200)
  })

  test('waiting messages of a WebSocket count, and their memory is free when it closes', async () => {
    isHolding = true
    const socket = await openSocket(gateway.url, { headers: ADA })
    const input = 'x'.repeat(1_000_000)
    socket.send({ type: 'response.create', model: 'm', input })
    socket.send({ type: 'response.create', model: 'm', input })
    await poll(() => waiting.length).toBe(1)
    expect((await post('/v1/chat/completions', bigChat)).status).toBe(429)
    for (const answer of waiting.splice(0)) answer()
    isHolding = false
    socket.socket.close()
    await poll(async () => (await post('/v1/chat/completions', bigChat)).status).toBe(200)
  })
})

describe('memory of unfinished WebSocket messages (C158)', () => {
  const part = 'x'.repeat(1_000_000)

  test('an unfinished message counts until its connection ends', async () => {
    const { socket, closed } = await openSocket(gateway.url, { headers: ADA })
    socket.send(part, { fin: false })
    await poll(hasRoomForLargeRequest).toBe(false)
    socket.terminate()
    await closed
    await poll(hasRoomForLargeRequest).toBe(true)
  })

  test('a connection whose unfinished message does not fit is closed with 1013, and small messages are served', async () => {
    const before = gateway.log.length
    const first = await openSocket(gateway.url, { headers: ADA })
    first.socket.send(part, { fin: false })
    await poll(hasRoomForLargeRequest).toBe(false)
    const second = await openSocket(gateway.url, { headers: ADA })
    second.socket.on('error', () => undefined)
    second.socket.send(part, { fin: false })
    expect(await second.closed).toMatchObject({ code: 1013 })
    expect(gateway.log.slice(before)).toMatchObject([{ level: 'warn', event: 'websocket-closed' }])
    const third = await openSocket(gateway.url, { headers: ADA })
    const small = { type: 'response.create', model: 'm', input: 'hi' }
    expect((await third.ask(small)).text).toBe('Yes.')
    third.socket.close()
    first.socket.terminate()
  })

  test('a large message that arrives in parts is counted once, and is answered', async () => {
    const { socket, answer } = await openSocket(gateway.url, { headers: ADA })
    const text = JSON.stringify({ type: 'response.create', model: 'm', input: part })
    for (let at = 0; at < 10; at++)
      socket.send(text.slice(at * 110_000, (at + 1) * 110_000), { fin: at === 9 })
    // The memory of one key has no room for the message and its parts.
    expect((await answer()).text).toBe('Yes.')
    await poll(hasRoomForLargeRequest).toBe(true)
    socket.close()
  })
})

describe('memory of cached unstored answers of a WebSocket (C158)', () => {
  const half = 'x'.repeat(500_000)
  const unstored = (input: string, more: JsonObject = {}): JsonObject => ({
    type: 'response.create',
    model: 'm',
    store: false,
    input,
    ...more,
  })

  test('a cached conversation counts until it is replaced or its connection ends', async () => {
    const { ask, socket } = await openSocket(gateway.url, { headers: ADA })
    const { id } = await ask(unstored(half))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(hasRoomForLargeRequest()).toBe(false)
    const next = await ask(unstored('And?', { previous_response_id: id }))
    expect(next.text).toBe('Yes.')
    expect(hasRoomForLargeRequest()).toBe(false)
    await ask(unstored('Something else.'))
    await poll(hasRoomForLargeRequest).toBe(true)
    await ask(unstored(half))
    expect(hasRoomForLargeRequest()).toBe(false)
    socket.close()
    await poll(hasRoomForLargeRequest).toBe(true)
  })

  test('an answer is not cached if too little memory is left, and those before it stay cached', async () => {
    const { ask, socket } = await openSocket(gateway.url, { headers: ADA })
    const first = await ask(unstored(half, { stream_id: 'a' }))
    const second = await ask(unstored(half, { stream_id: 'b' }))
    expect(second.text).toBe('Yes.')
    const askNext = ({ id }: { id: string }, stream: string) =>
      ask(unstored('And?', { stream_id: stream, previous_response_id: id }))
    expect((await askNext(second, 'b')).refusal).toBe('400 previous_response_not_found')
    expect((await askNext(first, 'a')).text).toBe('Yes.')
    socket.close()
  })

  test('an answer whose continuation fails counts no longer', async () => {
    const { ask, socket } = await openSocket(gateway.url, { headers: ADA })
    const { id } = await ask(unstored(half))
    const failed = await ask(unstored('And?', { previous_response_id: id, model: 'unknown' }))
    expect(failed.refusal).not.toBeNull()
    await poll(hasRoomForLargeRequest).toBe(true)
    socket.close()
  })
})

describe('memory of loaded histories (C158)', () => {
  // The chain is larger than the buffers of the operating system for a client that does not read.
  test('an answer that its client does not read counts until the client leaves', async () => {
    const path = `/v1/responses/${await storeChain(12)}/input_items?limit=100`
    await poll(hasRoomForLargeRequest).toBe(true)
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${ADA.authorization}\r\n\r\n`)
    await poll(() => socket.bytesRead).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(hasRoomForLargeRequest()).toBe(false)
    socket.destroy()
    await poll(hasRoomForLargeRequest).toBe(true)
  })

  const MEGABYTE = 'x'.repeat(1_000_000)
  const respond = (body: object) => post('/v1/responses', { model: 'm', ...body })

  /** Sends a request, and waits until its memory is free again. Returns the id of the answer. */
  async function store(path: string, body: object): Promise<string> {
    const response = await gateway.post(path, { model: 'm', ...body }, ADA)
    const { id } = (await response.json()) as { id: string }
    await poll(hasRoomForLargeRequest).toBe(true)
    return id
  }

  /** Stores a chain of turns of 1 MB each. */
  async function storeChain(turns = 6): Promise<string> {
    let previous: string | undefined
    for (let at = 0; at < turns; at++) {
      const body = { input: `${at} ${MEGABYTE}`, previous_response_id: previous }
      previous = await store('/v1/responses', body)
    }
    return previous ?? ''
  }

  test('a small request that continues a large conversation counts with all of it', async () => {
    // Too large to be loaded twice at once.
    const id = await storeChain()
    isHolding = true
    const first = respond({ input: 'And?', previous_response_id: id })
    await poll(() => waiting.length).toBe(1)
    const { json } = upstream.received.at(-1) as Received
    const texts = (json['messages'] as { content: string }[]).map(({ content }) => content[0])
    expect(texts.filter((text) => /\d/.test(text ?? ''))).toEqual(['0', '1', '2', '3', '4', '5'])
    const rejected = await respond({ input: 'And?', previous_response_id: id })
    expect(rejected).toMatchObject({ status: 503, error: { code: 'overloaded' } })
    const reading = await fetch(`${gateway.url}/v1/responses/${id}/input_items`, { headers: ADA })
    expect(reading.status).toBe(503)
    for (const answer of waiting.splice(0)) answer()
    expect((await first).status).toBe(200)
    isHolding = false
    await poll(async () => {
      const { status } = await respond({ input: 'And?', previous_response_id: id })
      return status
    }).toBe(200)
  })

  test('a reference counts with the size of its item, each time that the request repeats it', async () => {
    const id = await store('/v1/responses', { input: MEGABYTE })
    const listed = await fetch(`${gateway.url}/v1/responses/${id}/input_items`, { headers: ADA })
    const { data } = (await listed.json()) as { data: { id: string }[] }
    await poll(hasRoomForLargeRequest).toBe(true)
    const reference = { type: 'item_reference', id: data[0]?.id ?? '' }
    const before = upstream.received.length
    for (const path of ['/v1/responses', '/v1/responses/compact', '/v1/responses/input_tokens']) {
      const rejected = await post(path, { model: 'm', input: repeat(reference, 3) })
      expect(rejected).toMatchObject({
        status: 413,
        error: { code: 'request_too_large', param: 'input' },
      })
    }
    const added = await post('/v1/conversations', { items: repeat(reference, 3) })
    expect(added).toMatchObject({ status: 413, error: { code: 'request_too_large' } })
    expect(upstream.received).toHaveLength(before)
    isHolding = true
    const first = respond({ input: [reference] })
    await poll(() => waiting.length).toBe(1)
    expect(await respond({ input: [reference] })).toMatchObject({ status: 429 })
    // The response has the item as its input, and is read with it.
    const read = await fetch(`${gateway.url}/v1/responses/${id}`, { headers: ADA })
    expect(read.status).toBe(429)
    for (const answer of waiting.splice(0)) answer()
    expect((await first).status).toBe(200)
    const { json } = upstream.received.at(-1) as Received
    expect(JSON.stringify(json)).toContain(MEGABYTE)
  })

  test('a chat whose stored turns do not fit is rejected, not sent without its backstory', async () => {
    const id = await store('/v1/chat/completions', { ...bigChat, store: true })
    const content = `Yes.\n\n${formatMarkerLine(turnIdOfCompletion(id) ?? '')}`
    const continued = chat([message, { role: 'assistant', content }, message])
    isHolding = true
    const first = post('/v1/chat/completions', bigChat)
    await poll(() => waiting.length).toBe(1)
    const before = upstream.received.length
    const rejected = await post('/v1/chat/completions', continued)
    expect(rejected).toMatchObject({ status: 429, error: { code: 'rate_limit_exceeded' } })
    expect(upstream.received).toHaveLength(before)
    for (const answer of waiting.splice(0)) answer()
    expect((await first).status).toBe(200)
    isHolding = false
    await poll(async () => (await post('/v1/chat/completions', continued)).status).toBe(200)
  })
})
