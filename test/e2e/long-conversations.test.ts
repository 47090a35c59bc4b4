/** Conversations that grow too long: compaction, truncation and rejection, with their notes. */
import type { ResponseInput } from 'openai/resources/responses/responses'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeEach(async () => {
  upstream = await startUpstream(answerWith({ text: 'Yes.' }))
  const account = { baseUrl: upstream.url, apiKey: 'sk-upstream' }
  gateway = await startGateway(
    upstreams(
      {
        name: 'small',
        wire: 'chat',
        models: ['small'],
        quirks: { contextWindow: { 'sm*': 1000 } },
        ...account,
      },
      { name: 'chat', wire: 'chat', models: ['chat'], ...account },
      { name: 'plain', wire: 'responses', models: ['plain'], ...account },
      {
        name: 'native',
        wire: 'responses',
        models: ['native'],
        quirks: { compact: true, inputTokens: true },
        ...account,
      },
    ),
  )
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

const sent = () => upstream.received.at(-1)
const explained = async (body: object) => {
  const response = await gateway.post('/v1/context/explain', body)
  return (await response.json()) as {
    notes: readonly { why: string; at?: number }[]
    upstream: { body: JsonObject }
    size: { sent: { bytes: number; estimated_tokens: number } }
  }
}

/** Builds rounds of about 200 tokens each. */
function rounds(count: number): ResponseInput {
  return Array.from({ length: count }).flatMap((_, at): ResponseInput => [
    { role: 'user', content: `question ${at} ${'x'.repeat(400)}` },
    { role: 'assistant', content: `answer ${at} ${'y'.repeat(400)}` },
  ])
}
const long: ResponseInput = [...rounds(6), { role: 'user', content: 'And now?' }]

describe('long conversations when the context window is known', () => {
  test('`truncation: "auto"` drops the oldest rounds, with a note for each item', async () => {
    const { openai } = gateway
    await openai.responses.create({ model: 'small', input: long, truncation: 'auto' })
    expect(sent()?.text).not.toContain('question 0')
    expect(sent()?.text).toContain('question 5')
    expect(sent()?.text).toContain('And now?')
    const { notes, size } = await explained({
      model: 'small',
      input: long,
      truncation: 'auto',
    })
    const gone = notes.filter(({ why }) => why === 'over-window')
    expect(gone.map(({ at }) => at)).toEqual([...gone.keys()])
    expect(size.sent.estimated_tokens).toBeLessThan(1000)
  })

  test('without `truncation: "auto"`, a prompt that exceeds the window is rejected', async () => {
    for (const truncation of [undefined, 'disabled'] as const) {
      const response = await gateway.post('/v1/responses', {
        model: 'small',
        input: long,
        truncation,
      })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: { code: 'context_length_exceeded', param: 'input', type: 'invalid_request_error' },
      })
    }
    expect(upstream.received).toEqual([])
  })

  test('a question that alone exceeds the window is rejected', async () => {
    const input = 'x'.repeat(6000)
    const response = await gateway.post('/v1/responses', {
      model: 'small',
      input,
      truncation: 'auto',
    })
    expect(response.status).toBe(400)
  })

  test('a compaction without a threshold is made when the window is nearly full', async () => {
    const { openai } = gateway
    const response = await openai.responses.create({
      model: 'small',
      input: long,
      context_management: [{ type: 'compaction' }],
    })
    expect(response.output[0]?.type).toBe('compaction')
  })

  test('the endpoint for token counts also counts a request that exceeds the window', async () => {
    const { openai } = gateway
    const { input_tokens } = await openai.responses.inputTokens.count({
      model: 'small',
      input: long,
    })
    expect(input_tokens).toBeGreaterThan(1200)
  })
})

test('nothing is cut or rejected if the context window is unknown', async () => {
  await gateway.openai.responses.create({ model: 'chat', input: long, truncation: 'auto' })
  expect(sent()?.text).toContain('question 0')
})

describe('a compaction that fails', () => {
  const ask = (input: ResponseInput) =>
    gateway.openai.responses.create({
      model: 'chat',
      input,
      context_management: [{ type: 'compaction', compact_threshold: 100 }],
    })

  test.each([
    ['a summary that the upstream rejects', answerJson(500, { error: { message: 'no' } })],
    ['a summary that is cut off', answerWith({ text: 'It was', finish: 'length' })],
    ['an empty summary', answerWith({ text: '' })],
  ])(
    'after %s, the conversation is sent unchanged and the failure is logged',
    async (_, summary) => {
      upstream.behave = (response, received) =>
        (received.text.includes('<conversation>') ? summary : answerWith({ text: 'Yes.' }))(
          response,
          received,
        )
      const response = await ask(long)
      expect(response.output_text).toBe('Yes.')
      expect(response.output.map(({ type }) => type)).toEqual(['message'])
      expect(sent()?.text).toContain('answer 0')
      expect(gateway.log.map(({ event }) => event)).toContain('not-compacted')
    },
  )

  test('the request fails if a compaction that the client requested by a trigger fails', async () => {
    upstream.behave = answerJson(429, { error: { message: 'slow down' } }, { 'retry-after': '7' })
    const input = [...long, { type: 'compaction_trigger' }] as unknown
    const response = await gateway.post('/v1/responses', { model: 'chat', input })
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('7')
    const compact = await gateway.post('/v1/responses/compact', { model: 'chat', input: long })
    expect(compact.status).toBe(429)
  })
})

test('a dry run shows a due compaction without any upstream request', async () => {
  const context_management = [{ type: 'compaction', compact_threshold: 100 }]
  const { notes } = await explained({
    model: 'chat',
    input: long,
    context_management,
  })
  expect(notes.map(({ why }) => why)).toContain('compaction-due')
  expect(upstream.received).toEqual([])
})

describe('an upstream that compacts conversations and counts tokens itself', () => {
  test('an upstream with a compaction endpoint gets the request for the complete conversation', async () => {
    const { openai } = gateway
    const { id } = await openai.responses.create({ model: 'native', input: 'Rome?' })
    const answer = { id: 'resp_u', object: 'response.compaction', created_at: 1, output: [] }
    upstream.behave = answerJson(200, answer)
    const compacted = await openai.responses.compact({
      model: 'native',
      input: 'Oslo?',
      previous_response_id: id,
      instructions: 'be brief',
    })
    expect(compacted).toMatchObject(answer)
    expect(sent()?.path).toBe('/v1/responses/compact')
    expect(Object.keys(sent()?.json ?? {}).toSorted()).toEqual(['input', 'instructions', 'model'])
    expect(sent()?.text).toMatch(/Rome\?.*Yes\..*Oslo\?/)
  })

  test('an upstream with an endpoint for token counts is asked, and the gateway estimates if it fails', async () => {
    const { openai } = gateway
    upstream.behave = answerJson(200, { object: 'response.input_tokens', input_tokens: 7777 })
    const request = { model: 'native', input: 'Rome?', max_output_tokens: 100 }
    expect(await openai.responses.inputTokens.count(request)).toEqual({
      object: 'response.input_tokens',
      input_tokens: 7777,
    })
    expect(sent()?.path).toBe('/v1/responses/input_tokens')
    expect(Object.keys(sent()?.json ?? {}).toSorted()).toEqual(['input', 'model'])
    upstream.behave = answerJson(404, {})
    const { input_tokens } = await openai.responses.inputTokens.count(request)
    expect(input_tokens).toBeGreaterThan(0)
    expect(input_tokens).toBeLessThan(100)
    expect(gateway.log.map(({ event }) => event)).toContain('tokens-not-counted')
  })

  test("only an upstream that compacts by itself gets the client's compaction threshold", async () => {
    const context_management = [{ type: 'compaction', compact_threshold: 100_000 }]
    for (const model of ['native', 'plain']) {
      await gateway.openai.responses.create({ model, input: 'hi', context_management })
      expect(sent()?.json['context_management']).toEqual(
        model === 'native' ? context_management : undefined,
      )
    }
  })

  test('only the upstream that made a compaction item gets it back', async () => {
    const theirs = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAABpzfWE' } as const
    const input: ResponseInput = [...rounds(1), theirs, { role: 'user', content: 'And now?' }]
    await gateway.openai.responses.create({ model: 'native', input, store: false })
    expect(sent()?.text).toContain('gAAAAABpzfWE')
    expect(sent()?.text).not.toContain('answer 0')
    await gateway.openai.responses.create({ model: 'chat', input })
    expect(sent()?.text).not.toContain('gAAAAABpzfWE')
    expect(sent()?.text).toContain('answer 0')
    const { notes } = await explained({ model: 'chat', input })
    expect(notes).toMatchObject([{ did: 'dropped', at: 2, why: 'compaction-made-elsewhere' }])
  })
})

test('continuing a response with an output that has no call is rejected', async () => {
  const { id } = await gateway.openai.responses.create({ model: 'chat', input: 'hi' })
  const input = [{ type: 'function_call_output', call_id: 'call_x', output: '4' }]
  const body = { model: 'chat', input, previous_response_id: id }
  const response = await gateway.post('/v1/responses', body)
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    error: {
      message: 'No tool call found for function call output with call_id call_x.',
      type: 'invalid_request_error',
      param: 'input',
      code: null,
    },
  })
})
