/**
 * Long lines: the gateway sends Open WebUI no line over its limit of 131,072 bytes, whatever the upstream
 * sends.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { chatStream } from '../../support/answer-formats.ts'

const KNOWN = { 'X-Backstory-Chat': 'c', 'X-Backstory-Message': 'm' }
const MAX_LINE_BYTES = 131_072

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream()
  const { url: baseUrl } = upstream
  gateway = await startGateway(
    upstreams(
      { name: 'c', wire: 'chat', models: ['chat-model'], baseUrl, apiKey: 'k' },
      { name: 'r', wire: 'responses', models: ['responses-model'], baseUrl, apiKey: 'k' },
    ),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const ASKED = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Q' }] },
  '/v1/responses': { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Q' }] }] },
} as const

const PATHS = ['/v1/chat/completions', '/v1/responses'] as const

async function linesOf(response: Response): Promise<readonly string[]> {
  const lines = (await response.text()).split('\n')
  expect(lines.findLast((line) => line !== '')).toBe('data: [DONE]')
  return lines
}

describe.each(PATHS)('line lengths of streams for Open WebUI from %s', (path) => {
  test.each(['chat-model', 'responses-model'])(
    'a long error of %s is shortened in streams for Open WebUI',
    async (model) => {
      const error = {
        message: '😀\0'.repeat(50_000),
        type: 'server_error',
        code: 'c'.repeat(200_000),
      }
      upstream.behave = (response, { path: asked }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        if (asked.endsWith('/chat/completions')) {
          response.write(chatStream({ text: 'Hi' })[1])
          response.write(`data: ${JSON.stringify({ error })}\n\n`)
        } else {
          const failed = { id: 'resp_1', object: 'response', status: 'failed', output: [], error }
          response.write(
            `data: ${JSON.stringify({ type: 'response.failed', response: failed })}\n\n`,
          )
        }
        response.end()
      }
      const lines = await linesOf(
        await gateway.post(path, { model, stream: true, ...ASKED[path] }, KNOWN),
      )
      expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(
        MAX_LINE_BYTES / 2,
      )
      const errors = lines.filter((line) => /"error":\{"message":"upstream \w: 😀/.test(line))
      expect(errors).toHaveLength(1)
    },
  )

  test.each([1000, 200_000])(
    'an image of %i bytes reaches Open WebUI only over Chat Completions and in a short line; else a status line does (C127)',
    async (size) => {
      upstream.behave = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const event of drawing('A'.repeat(size))) {
          response.write(`data: ${JSON.stringify(event)}\n\n`)
        }
        response.end()
      }
      const requestFields = { model: 'responses-model', stream: true, ...ASKED[path] }
      const lines = await linesOf(await gateway.post(path, requestFields, KNOWN))
      expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(
        MAX_LINE_BYTES / 2,
      )
      const isShown = path === '/v1/chat/completions' && size === 1000
      const outcome = lines.filter((line) => line.includes('made an image that is not shown'))
      expect(outcome).toHaveLength(isShown ? 0 : 1)
      expect(lines.some((line) => line.includes('"images":[{"type"'))).toBe(isShown)
      // Other clients get no such lines.
      const others = await linesOf(await gateway.post(path, requestFields))
      expect(others.some((line) => line.includes('"event":{'))).toBe(false)
      expect(others.some((line) => line.includes('A'.repeat(size)))).toBe(true)
    },
  )
})

const BARE = { 'User-Agent': 'Python/3.11 aiohttp/3.13.5' }
const ASKED_BARE = {
  stream: true,
  tools: Array.from({ length: 26 }, (_, at) => ({
    type: 'function',
    name: `tool${at}`,
    description: 'd'.repeat(400),
    parameters: { type: 'object', properties: {} },
  })),
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Q' }] }],
}

/**
 * A bare Open WebUI sends no identifying headers, so every client that may be one gets these changes; they
 * are harmless to others.
 */
describe.each(['chat-model', 'responses-model'])(
  'streams of %s for an Open WebUI without identifying headers',
  (model) => {
    const words = `${'w'.repeat(500)} `.repeat(200)
    test.each([10, 60_000, 140_000])(
      'a stream has no long line if the instructions have %i characters',
      async (length) => {
        upstream.behave = (response, { path, json }) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          const isChat = path.endsWith('/chat/completions')
          for (const event of isChat ? chatStream({ text: words }) : answering(words, json)) {
            response.write(event)
          }
          response.end()
        }
        const instructions = 'S'.repeat(length)
        const lines = await linesOf(
          await gateway.post('/v1/responses', { ...ASKED_BARE, model, instructions }, BARE),
        )
        expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(
          MAX_LINE_BYTES,
        )
        const events = lines.flatMap((line) =>
          line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as SentEvent] : [],
        )
        expect(events.map(({ delta = '' }) => delta).join('')).toBe(words)
        const completed = events.at(-1)
        expect(completed).toMatchObject({ type: 'response.completed' })
        const { output } = completed?.response ?? {}
        if (output !== undefined) expect(JSON.stringify(output)).toContain(words)
        expect(lines.join('\n')).not.toMatch(/\]: #|"event":/)
      },
    )
  },
)

test('tools stay non-strict only if the client may be Open WebUI', async () => {
  upstream.behave = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of drawing('A')) response.write(`data: ${JSON.stringify(event)}\n\n`)
    response.end()
  }
  const isLoose = async (more: object, headers: Record<string, string>) => {
    const requestFields = { ...ASKED_BARE, model: 'responses-model', ...more }
    await (await gateway.post('/v1/responses', requestFields, headers)).text()
    return upstream.received.at(-1)?.text.includes('"strict":false')
  }
  expect(await isLoose({}, BARE)).toBe(true)
  expect(await isLoose({ store: false }, BARE)).toBe(false)
  expect(await isLoose({}, {})).toBe(false)
})

interface SentEvent {
  readonly type?: string
  readonly delta?: string
  readonly response?: { readonly output?: readonly object[] }
}

/** OpenAI repeats the request in three events of its stream. */
function answering(words: string, { tools, instructions }: Record<string, unknown>) {
  const text = { type: 'output_text', text: words, annotations: [] }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' }
  const response = { id: 'resp_1', object: 'response', created_at: 1, tools, instructions }
  const place = { output_index: 0, content_index: 0, item_id: 'msg_1' }
  const reply = { ...message, content: [text] }
  const events: readonly ({ readonly type: string } & Record<string, unknown>)[] = [
    {
      type: 'response.created',
      ...responseWithRequest({ ...response, status: 'in_progress', output: [] }),
    },
    {
      type: 'response.in_progress',
      ...responseWithRequest({ ...response, status: 'in_progress', output: [] }),
    },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...message, content: [] },
    },
    { type: 'response.content_part.added', ...place, part: { ...text, text: '' } },
    ...(words.match(/.{1,5000}/gs) ?? []).map((delta) => ({
      type: 'response.output_text.delta',
      ...place,
      delta,
    })),
    { type: 'response.output_text.done', ...place, text: words },
    { type: 'response.output_item.done', output_index: 0, item: reply },
    {
      type: 'response.completed',
      ...responseWithRequest({ ...response, status: 'completed', output: [reply] }),
    },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

function responseWithRequest(response: object): object {
  return { response }
}

function drawing(result: string): readonly object[] {
  const image = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result }
  const text = { type: 'output_text', text: 'Here.', annotations: [] }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' }
  const reply = { ...message, content: [text] }
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm' }
  const place = { output_index: 1, content_index: 0, item_id: 'msg_1' }
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...image, result: null } },
    { type: 'response.output_item.done', output_index: 0, item: image },
    { type: 'response.output_item.added', output_index: 1, item: { ...message, content: [] } },
    { type: 'response.content_part.added', ...place, part: { ...text, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: 'Here.' },
    { type: 'response.output_item.done', output_index: 1, item: reply },
    {
      type: 'response.completed',
      response: { ...response, status: 'completed', output: [image, reply] },
    },
  ]
}
