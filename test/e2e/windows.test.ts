/** Windows over a stored conversation: which items are sent, and what the client sees of it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream(answerWith({ text: 'Yes.' }))
  const account = { baseUrl: upstream.url, apiKey: 'sk' }
  gateway = await startGateway(
    upstreams(
      { name: 'c', wire: 'chat', models: ['chat'], ...account },
      { name: 'r', wire: 'responses', models: ['responses'], ...account },
    ),
  )
})
beforeEach(() => void upstream.received.splice(0))
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const HEADER = 'x-backstory-trimmed'
const running: object = { backstory: { window: { turns: 1 } } }
const input = Array.from({ length: 9 }, (_, at) => ({
  role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `${at % 2 === 0 ? 'question' : 'answer'} ${at}`,
}))

describe('the response header X-Backstory-Trimmed (C36)', () => {
  test.each(['chat', 'responses'])(
    'X-Backstory-Trimmed counts the items that a window dropped, streamed or not, over the %s wire',
    async (model) => {
      for (const stream of [true, false]) {
        for (const [path, list] of [
          ['/v1/chat/completions', { messages: input }],
          ['/v1/responses', { input }],
        ] as const) {
          const body = { model, stream, ...list, backstory: { window: { turns: 2 } } }
          const response = await gateway.post(path, body)
          await response.text()
          expect(response.headers.get(HEADER)).toMatch(/^items=6, tokens=\d+, by=window-turns$/)
          const whole = await gateway.post(path, { ...body, backstory: { window: { turns: 5 } } })
          await whole.text()
          expect(whole.headers.get(HEADER)).toBeNull()
        }
      }
    },
  )
})

test('items that a window drops are still stored and listed (C24)', async () => {
  const { openai } = gateway
  const { id } = await openai.conversations.create({ items: input.slice(0, 8) })
  await openai.responses.create({
    model: 'chat',
    input: 'question 8',
    conversation: id,
    ...running,
  })
  expect(upstream.received[0]?.json['messages']).toEqual([{ role: 'user', content: 'question 8' }])
  const listed = await openai.conversations.items.list(id, { limit: 100 })
  expect(listed.data).toHaveLength(10)
})

test('a window of one round contains the complete running tool loop and nothing before it (C32, C33)', async () => {
  const loop = Array.from({ length: 12 }).flatMap((_, at) => [
    { type: 'function_call', call_id: `call_${at}`, name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: `call_${at}`, output: `found ${at}` },
  ])
  const response = await gateway.post('/v1/responses', {
    model: 'responses',
    input: [...input, ...loop],
    ...running,
  })
  expect(response.status).toBe(200)
  expect(upstream.received[0]?.json['input']).toHaveLength(1 + loop.length)
})

test('a pinned message is sent under every window (C30)', async () => {
  const pinned = input.map((message, at) =>
    at === 2 ? { ...message, backstory: { pin: true } } : message,
  )
  const response = await gateway.post('/v1/chat/completions', {
    model: 'chat',
    messages: pinned,
    ...running,
  })
  expect(response.status).toBe(200)
  expect(upstream.received[0]?.json['messages']).toEqual([
    { role: 'user', content: 'question 2' },
    { role: 'user', content: 'question 8' },
  ])
})

test('a tool output above the cap is cut even if it is the latest, with a hint how to read the rest', async () => {
  const long = Array.from({ length: 2000 }, (_, at) => `line ${at}`).join('\n')
  await gateway.post('/v1/responses', {
    model: 'responses',
    store: false,
    input: [
      { role: 'user', content: 'look' },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: long },
    ],
    backstory: 'capped',
  })
  const sent = upstream.received[0]?.json['input'] as readonly { output?: string }[]
  const output = sent[2]?.output ?? ''
  expect(output.length).toBeLessThanOrEqual(4000)
  expect(output).toContain('expand_output with {"call_id":"call_1"')
  expect(output.endsWith('line 1999')).toBe(true)
})

test('the lean policy drops reasoning of earlier rounds together with the ids of the items after it', async () => {
  const turn = [
    { type: 'message', role: 'user', content: 'look' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
    { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'fog' },
  ]
  const ask = async (list: readonly object[]) => {
    await gateway.post('/v1/responses', {
      model: 'responses',
      store: false,
      input: list,
      backstory: { policy: 'lean', cuts: { min_chars: 0 } },
    })
    return upstream.received.at(-1)?.json['input'] as readonly { type: string; id?: string }[]
  }
  expect((await ask(turn)).map(({ id }) => id)).toEqual([undefined, 'rs_1', 'fc_1', undefined])
  const closed = await ask([...turn, { type: 'message', role: 'user', content: 'and now?' }])
  expect(closed.map(({ type, id }) => `${type} ${id}`)).toEqual([
    'message undefined',
    'function_call undefined',
    'function_call_output undefined',
    'message undefined',
  ])
})
