/**
 * A client whose answers are stored receives no encrypted reasoning and no summary unless it asks for them, and may
 * send the items of an answer back nevertheless. The model then gets its stored reasoning, over every API.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  const at = { baseUrl: upstream.url, apiKey: 'k' }
  gateway = await startGateway(
    upstreams(
      { name: 'r', wire: 'responses', models: ['r'], ...at },
      { name: 'a', wire: 'anthropic', models: ['a'], ...at },
      { name: 'g', wire: 'gemini', models: ['g'], ...at },
      { name: 'c', wire: 'chat', models: ['c'], quirks: { reasoningOn: 'all' }, ...at },
    ),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const ANSWERS: Readonly<Record<string, object>> = {
  r: {
    id: 'resp_up',
    object: 'response',
    model: 'r',
    status: 'completed',
    output: [
      {
        type: 'reasoning',
        id: 'rs_up',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'c2VhbA==',
      },
      {
        type: 'message',
        id: 'msg_up',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'A cat.', annotations: [] }],
      },
    ],
  },
  a: {
    id: 'msg_up',
    type: 'message',
    role: 'assistant',
    model: 'a',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2VhbA==' },
      { type: 'text', text: 'A cat.' },
    ],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  g: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true },
            { text: 'A cat.', thoughtSignature: 'c2VhbA==' },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  },
  c: {
    id: 'chatcmpl-up',
    object: 'chat.completion',
    model: 'c',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content: 'A cat.',
          reasoning: 'Hm.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2VhbA==' }],
        },
      },
    ],
  },
}

type Output = readonly Readonly<Record<string, unknown>>[]

async function request(body: object): Promise<{ readonly id: string; readonly output: Output }> {
  const response = await gateway.post('/v1/responses', body)
  expect(response.status).toBe(200)
  return (await response.json()) as { readonly id: string; readonly output: Output }
}

test.each(Object.keys(ANSWERS))(
  'the stored reasoning is sent again if the client sends it back without its encrypted content (model %s)',
  async (model) => {
    upstream.behave = answerJson(200, ANSWERS[model] ?? {})
    const question = { role: 'user', content: `What is it, ${model}?` }
    const { id, output } = await request({ model, input: [question] })
    expect(JSON.stringify(output)).not.toContain('c2VhbA==')
    const stored = await fetch(`${gateway.url}/v1/responses/${id}`)
    const forms: readonly Output[] = [
      output,
      ((await stored.json()) as { output: Output }).output,
      output.map((item) => (item['type'] === 'reasoning' ? { ...item, summary: [] } : item)),
    ]
    for (const form of forms) {
      await request({ model, input: [question, ...form, { role: 'user', content: 'Sure?' }] })
      expect(upstream.received.at(-1)?.text.split('c2VhbA==')).toHaveLength(2)
    }
  },
)
