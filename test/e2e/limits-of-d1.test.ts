/** Long texts, wrong settings and missing migrations on Workers, whose D1 limits rows to 2 MB. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestHarness } from 'wrangler'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'
import { startWorker, type Host } from './hosts.ts'

const LONG = randomBytes(1_100_000).toString('hex')
const DEMO = { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } }
const UPSTREAMS = JSON.stringify([DEMO])

/** The last events of this answer contain its text four times. */
const LONG_ANSWER = LONG.slice(0, 1_300_000)
const LONG_STREAM = [
  { index: 0, delta: { role: 'assistant', content: LONG_ANSWER }, finish_reason: null },
  { index: 0, delta: {}, finish_reason: 'stop' },
]
  .map(
    (choice) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'long', choices: [choice] })}\n\n`,
  )
  .join('')
const LONG_COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'long',
  choices: [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: LONG_ANSWER } },
  ],
}

let host: Host
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream((response, received) => {
    if (received.json['stream'] !== true)
      return answerJson(200, LONG_COMPLETION)(response, received)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${LONG_STREAM}data: [DONE]\n\n`)
  })
  const long = { name: 'a', wire: 'chat', baseUrl: upstream.url, models: ['long'] }
  // A list of items loads its complete turn: here two texts that take more memory than one request may by default.
  const environment = { UPSTREAMS: JSON.stringify([DEMO, long]), REQUEST_MEMORY_MB: '200' }
  host = await startWorker(environment)
})
afterAll(async () => {
  await host.close()
  await upstream.close()
})

function post(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${host.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'demo', ...body }),
  })
}

interface StoredResponse {
  readonly id: string
  readonly status: string
  readonly instructions: string
  readonly output: readonly { readonly content: readonly { readonly text: string }[] }[]
}

async function read(id: string): Promise<StoredResponse> {
  return (await fetch(`${host.url}/v1/responses/${id}`)).json() as Promise<StoredResponse>
}

test('messages and instructions of more than 2 MB are stored on D1, and continued', async () => {
  const first = await post({ model: 'long', input: LONG, instructions: LONG, store: true })
  expect(first.ok ? '' : await first.text()).toBe('')
  const { id } = (await first.json()) as StoredResponse
  expect((await read(id)).instructions).toBe(LONG)
  const items = await fetch(`${host.url}/v1/responses/${id}/input_items`)
  expect(await items.json()).toMatchObject({ data: [{ content: [{ text: LONG }] }] })
  expect((await post({ model: 'long', input: 'x', previous_response_id: id })).status).toBe(200)
})

test.each([
  ['whole', {}, {}],
  ['stream', { stream: true }, {}],
  ['stream that can be resumed', { stream: true }, { 'x-backstory-resumable': 'true' }],
  ['response in background', { background: true, stream: true }, {}],
])('an answer of more than 1 MB is stored on D1: %s', async (_, fields, headers) => {
  const response = await post({ model: 'long', input: 'x', store: true, ...fields }, headers)
  const text = await response.text()
  const id = /resp_\w+/.exec(text)?.[0] ?? ''
  expect(text).not.toContain('response.failed')
  const stored = await read(id)
  expect(stored.status).toBe('completed')
  expect(stored.output[0]?.content[0]?.text).toBe(LONG_ANSWER)
})

async function startUnmigrated(vars: Readonly<Record<string, string>>) {
  const harness = createTestHarness({
    root: new URL('../..', import.meta.url).pathname,
    workers: [{ configPath: 'wrangler.toml', vars }],
  })
  onTestFinished(() => harness.close())
  const { url } = await harness.listen()
  return { harness, request: () => fetch(new URL('/v1/models', url)) }
}

test('a wrong setting on Workers is an error that names it', async () => {
  const { request } = await startUnmigrated({ UPSTREAMS, CONTEXT: '{"preset":"nonsense"}' })
  const response = await request()
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({
    error: { code: 'internal_error', message: expect.stringMatching(/CONTEXT/) as string },
  })
})

test('a Worker without migrations answers 503 with the command that applies them, until they are applied', async () => {
  const { harness, request } = await startUnmigrated({ UPSTREAMS })
  const response = await request()
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({
    error: {
      code: 'store_unavailable',
      message: expect.stringMatching(/migrations apply/) as string,
    },
  })
  await harness.getWorker().applyD1Migrations('DB')
  expect((await request()).status).toBe(200)
})
