/** Every way to read a stored text that is longer than a row of D1 may be returns it unchanged, on every database. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerWith } from '../support/answer-formats.ts'
import { startGateway } from '../support/gateway.ts'
import { createDatabase } from '../support/postgres.ts'
import { isSampled } from '../support/sample.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { startWorker, type Host, type StartHost } from './hosts.ts'

/** Texts that are stored in pieces, because they have more than 1.2 MB. */
const [INSTRUCTIONS, QUESTION, OUTPUT, ANSWER] = Array.from({ length: 4 }, () =>
  randomBytes(620_000).toString('hex'),
) as [string, string, string, string]

const DATABASES: readonly (readonly [string, StartHost])[] = [
  [
    'SQLite, encrypted',
    (environment) => startGateway({ ...environment, STORAGE_KEYS: `k:${'A'.repeat(43)}=` }),
  ],
  ['Postgres', startOnPostgres],
  ['D1', startWorker],
]

async function startOnPostgres(environment: Readonly<Record<string, string>>): Promise<Host> {
  const { url, drop } = await createDatabase()
  const gateway = await startGateway({ ...environment, DATABASE_URL: url })
  return {
    url: gateway.url,
    async close() {
      await gateway.close()
      await drop()
    },
  }
}

interface StoredResponse {
  readonly output: readonly { readonly id: string }[]
}

// Each run tests one of the databases.
const sampled = DATABASES.filter((_, index) => isSampled(index, DATABASES.length))

describe.each(sampled)('long texts in %s', (_, start) => {
  let upstream: Upstream
  let host: Host
  beforeAll(async () => {
    upstream = await startUpstream(answerWith({ text: 'Fine.' }))
    const account = {
      wire: 'chat',
      baseUrl: upstream.url,
      models: ['m'],
      quirks: { profile: 'vllm', reasoningOn: 'all' },
    }
    host = await start({
      UPSTREAMS: JSON.stringify([{ name: 'a', ...account }]),
      CONTEXT: '{"policy":"replay"}',
      REQUEST_MEMORY_MB: '200',
    })
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })

  const request = async (path: string, body?: object): Promise<string> => {
    const response = await fetch(`${host.url}/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify({ model: 'm', ...body }) }),
    })
    const text = await response.text()
    expect(response.ok ? '' : text.slice(0, 1000)).toBe('')
    return text
  }
  const requestJson = async (path: string, body?: object) =>
    JSON.parse(await request(path, body)) as { id: string; output?: unknown }
  const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c1', output: OUTPUT }
  /** Names the long texts that a text contains. */
  const findTexts = (text: string) =>
    Object.entries({ INSTRUCTIONS, QUESTION, OUTPUT, ANSWER })
      .filter(([, long]) => text.includes(long))
      .map(([name]) => name)
  const findSentTexts = () => findTexts(upstream.received.at(-1)?.text ?? '')

  test('of a response: its fields, its items, its continuation and its explanation', async () => {
    upstream.behave = answerWith({ text: ANSWER })
    const first = await requestJson('/responses', {
      instructions: INSTRUCTIONS,
      input: [{ role: 'user', content: QUESTION }, call, output],
    })
    upstream.behave = answerWith({ text: 'Fine.' })
    expect(findTexts(await request(`/responses/${first.id}`))).toEqual(['INSTRUCTIONS', 'ANSWER'])
    const items = await request(`/responses/${first.id}/input_items`)
    expect(findTexts(items)).toEqual(['QUESTION', 'OUTPUT'])
    const next = { previous_response_id: first.id, input: 'Go on.' }
    const second = await requestJson('/responses', next)
    expect(findSentTexts()).toEqual(['QUESTION', 'OUTPUT', 'ANSWER'])
    const same = await requestJson('/responses', { ...next, instructions: INSTRUCTIONS })
    expect(findTexts(await request(`/responses/${same.id}`))).toEqual(['INSTRUCTIONS'])
    const [message] = (JSON.parse(await request(`/responses/${first.id}`)) as StoredResponse).output
    await request('/responses', {
      input: [
        { type: 'item_reference', id: message?.id },
        { role: 'user', content: 'x' },
      ],
    })
    expect(findSentTexts()).toEqual(['ANSWER'])
    const explained = await request(`/context/explain/${second.id}`)
    expect(findTexts(explained)).toEqual(['QUESTION', 'OUTPUT', 'ANSWER'])
  })

  test('of a conversation: pages of items, single items and responses', async () => {
    const { id } = await requestJson('/conversations', {
      items: [{ role: 'user', content: QUESTION }],
    })
    await request(`/conversations/${id}/items`, { items: [call, output] })
    const list = await request(`/conversations/${id}/items?order=asc`)
    expect(findTexts(list)).toEqual(['QUESTION', 'OUTPUT'])
    const { data } = JSON.parse(list) as { data: readonly { id: string }[] }
    const texts = await Promise.all(
      data.map((item) => request(`/conversations/${id}/items/${item.id}`)),
    )
    expect(texts.map(findTexts)).toEqual([['QUESTION'], [], ['OUTPUT']])
    upstream.behave = answerWith({ text: ANSWER })
    await request('/responses', { conversation: id, input: 'Go on.' })
    expect(findSentTexts()).toEqual(['QUESTION', 'OUTPUT'])
    const latest = await request(`/conversations/${id}/items?limit=1`)
    expect(findTexts(latest)).toEqual(['ANSWER'])
  })

  test('of a run in background: its events and its response', async () => {
    upstream.behave = answerWith({ text: ANSWER })
    const stream = await request('/responses', {
      background: true,
      stream: true,
      store: true,
      input: QUESTION,
      instructions: INSTRUCTIONS,
    })
    expect(findTexts(stream)).toEqual(['INSTRUCTIONS', 'ANSWER'])
    const id = /resp_\w+/.exec(stream)?.[0] ?? ''
    expect(await request(`/responses/${id}?stream=true`)).toBe(stream)
    expect(findTexts(await request(`/responses/${id}`))).toEqual(['INSTRUCTIONS', 'ANSWER'])
  })

  test('of a stored chat completion', async () => {
    upstream.behave = answerWith({ text: ANSWER })
    const { id } = await requestJson('/chat/completions', {
      store: true,
      messages: [{ role: 'user', content: QUESTION }],
    })
    expect(findTexts(await request(`/chat/completions/${id}`))).toEqual(['ANSWER'])
    expect(findTexts(await request(`/chat/completions/${id}/messages`))).toEqual(['QUESTION'])
    expect(findTexts(await request('/chat/completions?limit=1'))).toEqual(['ANSWER'])
  })

  test('of reasoning that a chat client did not send again, found by a call and by words', async () => {
    upstream.behave = answerWith({
      reasoning: ANSWER,
      calls: [{ id: 'call_look', name: 'look', arguments: '{}' }],
    })
    const question = { role: 'user', content: 'What is the weather up there?' }
    await request('/chat/completions', { messages: [question], tools: [TOOL] })
    const calls = [
      { id: 'call_look', type: 'function', function: { name: 'look', arguments: '{}' } },
    ]
    const messages = [
      question,
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'call_look', content: OUTPUT },
    ]
    upstream.behave = answerWith({ reasoning: QUESTION, text: 'It is sunny there today.' })
    await request('/chat/completions', { messages, tools: [TOOL] })
    expect(findSentTexts()).toEqual(['OUTPUT', 'ANSWER'])
    const answer = { role: 'assistant', content: 'It is sunny there today.' }
    const next = [...messages, answer, { role: 'user', content: 'Why?' }]
    await request('/chat/completions', { messages: next, tools: [TOOL] })
    expect(findSentTexts()).toEqual(['QUESTION', 'OUTPUT', 'ANSWER'])
  })
})

const TOOL = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } },
}
