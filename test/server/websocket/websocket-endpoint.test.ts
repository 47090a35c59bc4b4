/** WebSocket mode over real sockets, on Node and in workerd. */
import { once } from 'node:events'
import { request } from 'node:http'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { HOSTS, type Host } from '../../e2e/hosts.ts'
import { openaiFor, startGateway, upstreams } from '../../support/gateway.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { connect, create } from '../../support/socket-client.ts'
import { answerSse, startUpstream, type Upstream } from '../../support/upstream.ts'
import { answerWith } from '../../support/answer-formats.ts'

describe.each(HOSTS)('the WebSocket endpoint on %s', (name, start) => {
  let upstream: Upstream
  let host: Host
  beforeAll(async () => {
    upstream = await startUpstream()
    const account = { baseUrl: upstream.url, apiKey: 'sk-upstream' }
    host = await start({
      MAX_BODY_MB: '1',
      UPSTREAMS: JSON.stringify([
        { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
        { name: 'r', wire: 'responses', models: ['responses-model'], ...account },
        { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } },
      ]),
    })
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })

  test('the official SDK can hold a conversation of unstored answers (`store: false`) over one WebSocket', async () => {
    const connection = new ResponsesWS(openaiFor(host.url))
    const ids: string[] = []
    const said: string[] = []
    const ask = (text: string) =>
      connection.send({
        type: 'response.create',
        model: 'demo',
        input: [{ role: 'user', content: text }],
        store: false,
        previous_response_id: ids.at(-1) ?? null,
      })
    ask('My name is Ada.')
    for await (const event of connection) {
      if (event.type === 'error') throw event.error
      if (event.type !== 'message') continue
      const { message } = event
      if (message.type === 'response.output_text.done') said.push(message.text)
      if (message.type !== 'response.completed') continue
      ids.push(message.response.id)
      if (ids.length === 3) break
      ask('Who am I?')
    }
    connection.close()
    expect(said[2]).toContain('I remember 2 earlier of your messages.')
  })

  test('an unstored answer can be continued only on its own WebSocket connection, and only until the next answer there', async () => {
    const { ask, socket, closed } = await connect(host.url)
    const first = await ask(create('one', { store: false }))
    const second = await ask(create('two', { store: false, previous_response_id: first.id }))
    expect(second.text).toContain('I remember 1 earlier')
    const again = await ask(create('three', { store: false, previous_response_id: first.id }))
    expect(again.refusal).toBe('400 previous_response_not_found')
    socket.close()
    await closed

    const other = await connect(host.url)
    const lost = await other.ask(create('three', { previous_response_id: second.id }))
    expect(lost.refusal).toBe('400 previous_response_not_found')
    other.socket.close()
  })

  test('a stored answer that continues an unstored one of the same connection can be continued elsewhere with both earlier turns', async () => {
    const { ask, socket } = await connect(host.url)
    const first = await ask(create('one', { store: false }))
    const second = await ask(create('two', { previous_response_id: first.id }))
    socket.close()
    const openai = openaiFor(host.url)
    const third = await openai.responses.create({
      model: 'demo',
      input: 'three',
      previous_response_id: second.id,
    })
    expect(third.output_text).toContain('I remember 2 earlier')
  })

  test('an unstored WebSocket answer cannot be continued again after a request that continued it has failed', async () => {
    const { ask, socket } = await connect(host.url)
    const first = await ask(create('/call look {}', { store: false }))
    const output = { type: 'function_call_output', call_id: 'nope', output: '4' }
    const wrong = { store: false, previous_response_id: first.id }
    expect((await ask(create([output], wrong))).refusal).toBe('400 invalid_request_error')
    expect((await ask(create('go on', wrong))).refusal).toBe('400 previous_response_not_found')
    socket.close()
  })

  test.each(['chat-model', 'responses-model'])(
    'an unstored answer of the upstream model %s can be continued on its WebSocket connection, with its reasoning and tool call',
    async (model) => {
      const { ask, socket } = await connect(host.url)
      const calls = [{ id: 'call_1', name: 'look', arguments: '{}' }]
      upstream.behave = answerWith({ reasoning: 'Hm.', text: 'COBALT', calls })
      // OpenAI's Agents SDKs send `stream: true` in every message, and no beta header.
      const fields = { model, store: false, stream: true }
      const first = await ask({ ...create('one'), ...fields })
      expect(first.id).toMatch(/^resp_[0-9A-Z]{20}$/)
      expect(
        first.frames.map(({ response }) => (response as JsonObject)?.['id'] ?? first.id),
      ).toEqual(first.frames.map(() => first.id))
      const call = (first.response['output'] as readonly JsonObject[]).find(
        ({ type }) => type === 'function_call',
      )
      upstream.behave = answerWith({ text: 'Done.' })
      const output = { type: 'function_call_output', call_id: call?.['call_id'] ?? '', output: '4' }
      const previous = { previous_response_id: first.id }
      const second = await ask({ ...create([output]), ...fields, ...previous })
      expect(second).toMatchObject({ refusal: null, text: 'Done.' })
      expect(upstream.received.at(-1)?.text).toContain('COBALT')
      expect(upstream.received.at(-1)?.text).toContain('one')
      // A failed continuation removes the answer from the memory of the connection.
      expect((await ask({ ...create([output]), ...fields, ...previous })).refusal).toBe(
        '400 previous_response_not_found',
      )
      socket.close()
    },
  )

  test('generate: false over a WebSocket calls no model, and its turn can be continued', async () => {
    const { ask, socket } = await connect(host.url)
    const warm = await ask(create('one', { store: false, generate: false }))
    expect(warm.response).toMatchObject({ status: 'completed', output: [] })
    expect(warm.faults).toEqual([])
    const next = await ask(create('two', { store: false, previous_response_id: warm.id }))
    expect(next.text).toContain('I remember 1 earlier')
    socket.close()
  })

  test.each(['chat-model', 'responses-model'])(
    'an answer of the upstream model %s is sent over a WebSocket with one message for each event',
    async (model) => {
      upstream.behave = answerWith({ reasoning: 'Hm.', text: 'A cat.' })
      const { ask, socket } = await connect(host.url)
      for (const store of [false, true]) {
        const { faults, text, frames } = await ask({ ...create('hi', { store }), model })
        expect(text).toBe('A cat.')
        expect(frames.length).toBeGreaterThan(8)
        if (model === 'chat-model') expect(faults).toEqual([])
      }
      socket.close()
    },
  )

  test('an invalid WebSocket message gets an error, and the connection stays usable', async () => {
    const { ask, answer, socket } = await connect(host.url)
    expect((await ask('not JSON')).refusal).toBe('400 invalid_json')
    socket.send(new Uint8Array([1, 2, 3]))
    expect((await answer()).refusal).toBe('400 invalid_json')
    expect((await ask({ type: 'session.update' })).refusal).toBe('400 invalid_value')
    expect((await ask(create('hi', { stream: false }))).refusal).toBe('400 unsupported_parameter')
    expect((await ask(create('hi', { temperature: 'hot' }))).refusal).toBe('400 invalid_type')
    expect((await ask(create('x'.repeat(1_100_000)))).refusal).toBe('413 request_too_large')
    expect((await ask(create('/say still here', { stream_id: 'a' }))).text).toBe('still here')
    socket.close()
  })

  test.each(['close', 'terminate'] as const)(
    'a WebSocket client that disconnects (%s) ends its answer, so that the stored part can be continued',
    async (how) => {
      upstream.behave = answerSse(['data: {"choices":[{"delta":{"content":"A"}}]}\n\n'], 'hang')
      const { send, socket } = await connect(host.url)
      send({ ...create('hi'), model: 'chat-model' })
      const [data] = (await once(socket, 'message')) as [Buffer]
      const { id } = (JSON.parse(data.toString()) as { response: { id: string } }).response
      const { responses } = openaiFor(host.url)
      const goOn = () => responses.create({ model: 'demo', input: 'x', previous_response_id: id })
      await expect(goOn()).rejects.toThrow('is still in progress')
      socket[how]()
      await vi.waitFor(goOn, { timeout: 5000, interval: 50 })
      // The test harness of workerd does not abort the upstream request.
      if (name === 'Node') expect(await upstream.received.at(-1)?.aborted).toBeGreaterThan(0)
    },
  )

  test('GET /v1/responses without an upgrade gets status 405 with an explanation', async () => {
    const response = await fetch(`${host.url}/v1/responses`)
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  test('without API keys, a WebSocket from a web page of another machine is rejected', async () => {
    await expect(connect(host.url, { origin: 'https://example.com' })).rejects.toThrow('403')
    const own = await connect(host.url, { origin: 'http://localhost:3000' })
    own.socket.close()
  })
})

describe.each(HOSTS)('the WebSocket endpoint with keys, on %s', (_, start) => {
  test('the API key is checked before the WebSocket opens', async () => {
    const host = await start({ BACKSTORY_KEYS: 'ada:sk-one' })
    await expect(connect(host.url)).rejects.toThrow('401')
    await expect(
      connect(host.url, { headers: { authorization: 'Bearer sk-two' } }),
    ).rejects.toThrow('401')
    const headers = { authorization: 'Bearer sk-one' }
    const { ask, socket } = await connect(host.url, { headers, origin: 'https://example.com' })
    expect((await ask(create('/say welcome'))).text).toBe('welcome')
    socket.close()
    await host.close()
  })
})

test('a WebSocket client that reads slowly receives all events, and the upstream is paused', async () => {
  const upstream = await startUpstream()
  const account = { baseUrl: upstream.url, apiKey: 'sk-upstream' }
  const gateway = await startGateway(
    upstreams({ name: 'c', wire: 'chat', models: ['chat-model'], ...account }),
  )
  const content = 'x'.repeat(20_000)
  let taken = 0
  upstream.behave = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let at = 0; at < 1500; at += 1) {
      const chunk = { choices: [{ index: 0, delta: { content } }] }
      if (!response.write(`data: ${JSON.stringify(chunk)}\n\n`)) await once(response, 'drain')
      taken += content.length
    }
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`)
  }
  const { send, answer, socket } = await connect(gateway.url)
  send({ ...create('hi', { store: false }), model: 'chat-model' })
  await once(socket, 'message')
  socket.pause()
  await new Promise((resolve) => setTimeout(resolve, 400))
  const before = taken
  await new Promise((resolve) => setTimeout(resolve, 200))
  // Only the buffers of the kernel have been filled.
  expect(taken).toBe(before)
  expect(taken).toBeLessThan(25_000_000)
  socket.resume()
  expect((await answer()).text.length).toBe(1500 * 20_000)
  socket.close()
  await gateway.close()
  await upstream.close()
})

test('a gateway that shuts down closes its WebSocket connections with a reason', async () => {
  const gateway = await startGateway()
  const idle = await connect(gateway.url)
  await gateway.close()
  expect(await idle.closed).toMatchObject({ code: 1001 })
})

test('a request to upgrade to HTTP/2 is answered over HTTP/1.1', async () => {
  const gateway = await startGateway()
  const status = await new Promise((resolve, reject) => {
    const headers = { connection: 'upgrade, http2-settings', upgrade: 'h2c' }
    request(`${gateway.url}/healthz`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
  expect(status).toBe(200)
  await gateway.close()
})
