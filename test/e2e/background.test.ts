/**
 * Background responses with the official SDK, on Node and inside workerd: they go on when their client has
 * left.
 */
import type OpenAI from 'openai'
import type {
  Response as OpenaiResponse,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openaiFor } from '../support/gateway.ts'
import { decodeFrames } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { readStream } from '../support/sse-reader.ts'
import { HOSTS, type Host } from './hosts.ts'
import { sampleCases } from '../support/sample.ts'

const JSON_BODY = { 'content-type': 'application/json' }

describe.each(sampleCases(HOSTS, 2))('background responses on %s', (_, start) => {
  let host: Host
  let openai: OpenAI
  beforeAll(async () => {
    host = await start({
      RUN_LEASE_SECONDS: '5',
      UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":2}}]',
    })
    openai = openaiFor(host.url)
  })
  afterAll(() => host.close())

  const begin = (input: string) =>
    openai.responses.create({ model: 'demo', background: true, input })
  const streamed = (input: string) =>
    openai.responses.create({ model: 'demo', background: true, stream: true, input })
  const path = (id: string, query = '') => `${host.url}/v1/responses/${id}${query}`

  /** Polls every 20 ms, as OpenAI's documentation shows. */
  async function polled(id: string): Promise<OpenaiResponse> {
    for (;;) {
      const response = await openai.responses.retrieve(id)
      if (response.status !== 'queued' && response.status !== 'in_progress') return response
      await aMoment()
    }
  }

  async function until(is: (response: OpenaiResponse) => boolean, id: string): Promise<void> {
    while (!is(await openai.responses.retrieve(id))) await aMoment()
  }

  describe('requests with an Idempotency-Key (C155)', () => {
    const bodies = {
      'chat/completions': (text: string) => ({ messages: [{ role: 'user', content: text }] }),
      responses: (text: string) => ({ input: text }),
    } as const
    const send = (path: keyof typeof bodies, key: string, more = {}, signal?: AbortSignal) =>
      fetch(`${host.url}/v1/${path}`, {
        method: 'POST',
        headers: { ...JSON_BODY, 'idempotency-key': key },
        body: JSON.stringify({ model: 'demo', ...bodies[path](`/say ${WORDS}`), ...more }),
        signal: signal ?? null,
      })
    const WORDS = 'la '.repeat(100)
    const readId = async (response: Response) =>
      /(?:resp_|chatcmpl-)[0-9A-Z]{20}/.exec(await response.text())?.[0]

    test.each([
      ['chat/completions', false],
      ['chat/completions', true],
      ['responses', false],
      ['responses', true],
    ] as const)('requests to %s with stream=%s get one answer', async (path, stream) => {
      const key = `${path} ${stream}`
      const forms = [{ stream }, { stream }, { stream: !stream }]
      const answers = await Promise.all(forms.map((more) => send(path, key, more)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      const ids = await Promise.all(answers.map(readId))
      expect(ids[0]).toBeDefined()
      expect(new Set(ids).size).toBe(1)
      expect(await readId(await send(path, key, { stream }))).toBe(ids[0])
      expect((await send(path, key, { stream, temperature: 0 })).status).toBe(422)
    })

    test('a retry gets the response whose client has disconnected', async () => {
      const leave = new AbortController()
      const more = { stream: true }
      const first = await send('responses', 'left', more, leave.signal)
      await first.body?.getReader().read()
      leave.abort()
      const frames = decodeFrames(await (await send('responses', 'left', more)).text())
      expect(responsesFaults(frames)).toEqual([])
      expect(frames.at(-2)?.data).toContain(WORDS.trim())
    })
  })

  describe('the life of a background response', () => {
    test('a background response is queued at once and can be polled until it is complete', async () => {
      const queued = await begin('/think Hm.\n/say Hello there')
      expect(queued).toMatchObject({ status: 'queued', background: true, output: [], store: true })
      const response = await polled(queued.id)
      expect(response).toMatchObject({ status: 'completed', background: true, id: queued.id })
      expect(response.output_text).toBe('Hello there')
      expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    })

    test('polling a background response in progress shows its finished items', async () => {
      const { id } = await begin('/think Hm.\n/hang')
      await until(({ output }) => output.length > 0, id)
      expect(await openai.responses.retrieve(id)).toMatchObject({
        status: 'in_progress',
        output: [{ type: 'reasoning' }],
      })
      await openai.responses.cancel(id)
    })

    test('the stream of a background response has valid events from `response.queued` to the end', async () => {
      const { text, isDone } = await readStream(`${host.url}/v1/responses`, {
        method: 'POST',
        headers: JSON_BODY,
        body: JSON.stringify({
          model: 'demo',
          background: true,
          stream: true,
          input: '/think Hm.\n/say Hello there\n/call look {"a":1}',
        }),
      })
      expect(isDone).toBe(true)
      const messages = decodeFrames(text)
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.slice(0, 3).map(({ event }) => event)).toEqual([
        'response.created',
        'response.queued',
        'response.in_progress',
      ])
    })

    test('a background response continues after the client of its stream has disconnected', async () => {
      const events = await streamed('/repeat 60 word')
      let id = ''
      for await (const event of events) {
        if (event.type === 'response.created') ({ id } = event.response)
        if (event.type === 'response.output_text.delta') break
      }
      expect((await polled(id)).output_text.split(' ')).toHaveLength(60)
    })

    test("the SDK's stream helper can follow a background response live and replay it later", async () => {
      const { id } = await begin('/repeat 40 word')
      const live = await openai.responses.stream({ response_id: id }).finalResponse()
      expect(live.output_text.split(' ')).toHaveLength(40)
      const after: number[] = []
      const replay = openai.responses.stream({ response_id: id, starting_after: 5 })
      for await (const event of replay) after.push(event.sequence_number)
      expect(after[0]).toBe(6)
      expect((await replay.finalResponse()).output_text).toBe(live.output_text)
    })

    test('a failed background response reports its failure when it is polled and in its stream', async () => {
      const { id } = await begin('/status 429 Slow down')
      expect(await polled(id)).toMatchObject({
        status: 'failed',
        error: { message: 'upstream demo: Slow down' },
      })
      const { text, isDone } = await readStream(path(id, '?stream=true'))
      expect(isDone).toBe(true)
      expect(responsesFaults(decodeFrames(text))).toEqual([])
    })

    test('a background response with `store: false` is rejected', async () => {
      await expect(
        openai.responses.create({ model: 'demo', background: true, store: false, input: 'x' }),
      ).rejects.toMatchObject({ status: 400, param: 'background', code: 'unsupported_parameter' })
    })

    test('a background response with an unknown model or previous response is rejected at once', async () => {
      const refused = openai.responses.create({ model: 'nope', background: true, input: 'x' })
      await expect(refused).rejects.toMatchObject({ status: 400, param: 'model' })
      const orphan = openai.responses.create({
        model: 'demo',
        background: true,
        input: 'x',
        previous_response_id: 'resp_01JZZZZZZZZZZZZZZZZZ',
      })
      await expect(orphan).rejects.toMatchObject({ status: 400, param: 'previous_response_id' })
    })

    test('a background response can be continued by `previous_response_id`, but only after its end', async () => {
      const first = await begin('/repeat 12 word')
      const next = { model: 'demo', input: 'And?', previous_response_id: first.id }
      await expect(openai.responses.create(next)).rejects.toMatchObject({ status: 400 })
      await polled(first.id)
      const second = await openai.responses.create({ ...next, background: true })
      expect((await polled(second.id)).output_text).toContain('I remember 1 earlier')
    })

    test('a background response in progress cannot be deleted', async () => {
      const { id } = await begin('/hang')
      await expect(openai.responses.delete(id)).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('Cannot delete an in-flight response.') as string,
      })
      await openai.responses.cancel(id)
      await openai.responses.delete(id)
      await expect(openai.responses.cancel(id)).rejects.toMatchObject({ status: 404 })
      expect((await readStream(path(id, '?stream=true'))).status).toBe(404)
    })
  })

  describe('replaying the stream of a background response', () => {
    test('a replayed stream continues after any event number with the same events and no gap', async () => {
      const { id } = await begin('/say Hello there')
      const whole = await readStream(path(id, '?stream=true'))
      expect(whole.events.map(({ number }) => number)).toEqual(whole.events.map((_, at) => at))
      for (const { number } of whole.events) {
        const rest = await readStream(path(id, `?stream=true&starting_after=${number}`))
        expect(rest.events).toEqual(whole.events.slice(number + 1))
        expect(rest.isDone).toBe(true)
      }
    })

    test('a stream that is still being written can be replayed from any event on', async () => {
      const { id } = await begin('/repeat 40 word')
      const events: unknown[] = []
      for (let take = 1; ; take = (take * 3) % 17 || 1) {
        const after = events.length === 0 ? '' : `&starting_after=${events.length - 1}`
        const part = await readStream(path(id, `?stream=true${after}`), {}, take)
        events.push(...part.events)
        if (part.isDone && part.events.length < take) break
      }
      expect(events).toEqual((await readStream(path(id, '?stream=true'))).events)
    })

    test('a replayed stream that starts after the last event is complete and has no events', async () => {
      const { id } = await begin('/say Hi')
      await polled(id)
      for (const after of ['100', '99999999999999999999']) {
        const { status, text } = await readStream(path(id, `?stream=true&starting_after=${after}`))
        expect({ status, text }).toEqual({ status: 200, text: 'data: [DONE]\n\n' })
      }
    })

    test.each([
      ['starting_after=x', 400, 'starting_after'],
      ['starting_after=-1', 400, 'starting_after'],
      ['starting_after=1.5', 400, 'starting_after'],
    ])('replaying a stream with the query %s is rejected', async (query, status, param) => {
      const { id } = await begin('/say Hi')
      const response = await fetch(path(id, `?stream=true&${query}`))
      expect(response.status).toBe(status)
      expect(await response.json()).toMatchObject({ error: { param } })
    })

    test('replaying a response that was not stored as a stream is rejected', async () => {
      const { id } = await openai.responses.create({ model: 'demo', input: 'x' })
      const response = await fetch(path(id, '?stream=true'))
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: {
          param: 'stream',
          message:
            'This response cannot be streamed because it was not created with background=true.',
        },
      })
      const nobody = await fetch(path('resp_01JZZZZZZZZZZZZZZZZZ', '?stream=true'))
      expect(nobody.status).toBe(404)
    })
  })

  describe('a stream with the header X-Backstory-Resumable', () => {
    const ask = (body: object, take?: number) =>
      readStream(
        `${host.url}/v1/responses`,
        {
          method: 'POST',
          headers: { ...JSON_BODY, 'x-backstory-resumable': 'true' },
          body: JSON.stringify({ model: 'demo', ...body }),
        },
        take,
      )

    test('a resumable stream has the same events as any other stream', async () => {
      const { text, isDone, events } = await ask({ stream: true, input: '/say Hello there' })
      expect(isDone).toBe(true)
      expect(responsesFaults(decodeFrames(text))).toEqual([])
      expect(events[1]?.type).toBe('response.in_progress')
      expect(events.at(-1)?.data).toContain('"background":false')
    })

    test('a resumable stream continues at the event where its connection was cut', async () => {
      const cut = await ask({ stream: true, input: '/repeat 50 word' }, 7)
      const id = /resp_[0-9A-Z]{20}/.exec(cut.text)?.[0] ?? ''
      const rest = await readStream(path(id, '?stream=true&starting_after=6'))
      expect(rest.isDone).toBe(true)
      expect(rest.events[0]?.number).toBe(7)
      expect(rest.events.at(-1)?.type).toBe('response.completed')
    })

    test('a resumable stream is rejected for the same reasons as any other request', async () => {
      expect((await ask({ stream: true, input: '/status 429 Slow down' })).status).toBe(429)
      expect((await ask({ stream: true, store: false, input: 'x' })).status).toBe(400)
      expect((await ask({ input: '/say Hi' })).status).toBe(200)
    })
  })

  describe('cancelling a background response', () => {
    test('a cancelled background response retains its text so far, and all readers get the same result', async () => {
      const { id } = await begin('/think Hm.\n/repeat 400 word')
      const helper = openai.responses.stream({ response_id: id })
      const events: ResponseStreamEvent[] = []
      let cancelled: OpenaiResponse | null = null
      for await (const event of helper) {
        events.push(event)
        if (event.type === 'response.output_text.delta' && cancelled === null) {
          cancelled = await openai.responses.cancel(id)
        }
      }
      expect(cancelled).toMatchObject({ id, status: 'cancelled', error: null })
      expect(cancelled?.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
      expect(events.at(-1)?.type).toBe('response.failed')
      expect(await helper.finalResponse()).toMatchObject({ status: 'cancelled', error: null })
      const read = await openai.responses.retrieve(id)
      expect(read).toMatchObject(await openai.responses.cancel(id))
      expect(read.output_text).toMatch(/^word( word)*$/)
      const { text } = await readStream(path(id, '?stream=true'))
      expect(text).toContain(JSON.stringify(read.output_text))
      expect(text.match(/^event: response\.(completed|failed|incomplete)$/gm)).toHaveLength(1)
    })

    test('a background response can be cancelled before it has started', async () => {
      const { id } = await begin('/hang')
      expect(await openai.responses.cancel(id)).toMatchObject({ status: 'cancelled', output: [] })
      expect(await openai.responses.retrieve(id)).toMatchObject({ status: 'cancelled' })
    })

    test('several clients that cancel a background response at once get the same result', async () => {
      const { id } = await begin('/hang')
      const all = await Promise.all(Array.from({ length: 5 }, () => openai.responses.cancel(id)))
      expect(all.map(({ status }) => status)).toEqual(Array(5).fill('cancelled'))
    })

    test('cancelling a finished, unknown or ordinary response is rejected', async () => {
      const refusal = async (id: string) => {
        const response = await fetch(path(id, '/cancel'), { method: 'POST' })
        const { error } = (await response.json()) as { error: { message: string } }
        return [response.status, error.message]
      }
      const completed = await begin('/say Hi')
      await polled(completed.id)
      expect(await refusal(completed.id)).toEqual([400, 'Cannot cancel a completed response.'])
      const failed = await begin('/error No')
      await polled(failed.id)
      expect(await refusal(failed.id)).toEqual([400, 'Cannot cancel a failed response.'])
      const { id } = await openai.responses.create({ model: 'demo', input: 'x' })
      expect(await refusal(id)).toEqual([400, 'Cannot cancel a synchronous response.'])
      expect((await refusal('resp_01JZZZZZZZZZZZZZZZZZ'))[0]).toBe(404)
      expect((await refusal('msg_1'))[0]).toBe(400)
    })
  })
})

function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
