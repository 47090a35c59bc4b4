/**
 * Parameters that the gateway adds for Open WebUI: titles and tags cost no reasoning, and OpenAI's models show a
 * summary of theirs. The client's own parameters take precedence, and a model that rejects one is asked without.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { startGateway } from '../support/gateway.ts'
import { answerJson, startUpstream, type Behaviour, type Upstream } from '../support/upstream.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

let upstream: Upstream
let gateway: Gateway
let silent: Gateway
beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway(environment())
  silent = await startGateway({ ...environment(), REASONING_SUMMARY: 'off' })
})
afterAll(async () => {
  await gateway.close()
  await silent.close()
  await upstream.close()
})
beforeEach(() => {
  upstream.behave = answer
  upstream.received.length = 0
})

function environment(): Readonly<Record<string, string>> {
  const account = (name: string, wire: string, quirks = {}) => ({
    name,
    wire,
    baseUrl: upstream.url,
    // With equal keys, `chat` would be the same upstream as `openai`.
    apiKey: `sk-${name}`,
    models: ['*'],
    quirks,
  })
  return {
    UPSTREAMS: JSON.stringify([
      account('openai', 'responses'),
      account('chat', 'chat'),
      account('claude', 'anthropic'),
      account('gemini', 'gemini'),
      ...['openrouter', 'vllm', 'ollama', 'groq', 'mistral', 'deepseek'].map((profile) =>
        account(profile, 'chat', { profile }),
      ),
    ]),
  }
}

/** Answers in the format of the API that is called. */
const answer: Behaviour = (response, received) => {
  const content = [{ type: 'text', text: '{"title":"Fog"}' }]
  const message = { role: 'assistant', content: '{"title":"Fog"}' }
  const output = [{ type: 'message', ...message, content: [{ type: 'output_text', text: 'Fog' }] }]
  const { path } = received
  if (path.endsWith('/messages')) {
    const body = { type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage: {} }
    return answerJson(200, body)(response, received)
  }
  if (path.includes('generateContent')) {
    const parts = [{ text: 'Fog' }]
    const body = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }
    return answerJson(200, body)(response, received)
  }
  return path.endsWith('/responses')
    ? answerJson(200, { id: 'r', object: 'response', status: 'completed', output })(
        response,
        received,
      )
    : answerJson(200, { choices: [{ index: 0, message, finish_reason: 'stop' }] })(
        response,
        received,
      )
}

const CHAT = { 'x-backstory-chat': 'c1' }
const TASK = { ...CHAT, 'x-backstory-task': 'title_generation' }

/** Sends a request over a connection of Open WebUI, and returns what the upstream received last. */
async function send(
  model: string,
  more: JsonObject,
  headers: Readonly<Record<string, string>>,
  { api = 'chat', through = gateway } = {},
): Promise<JsonObject> {
  const [path, input] =
    api === 'chat'
      ? ['/v1/chat/completions', { messages: [{ role: 'user', content: 'A title, please.' }] }]
      : ['/v1/responses', { input: 'A title, please.' }]
  const response = await through.post(path, { model, ...input, ...more }, headers)
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  return upstream.received.at(-1)?.json as JsonObject
}

/** The fields of a request that decide about reasoning. */
function reasoningIn({
  reasoning_effort: effort,
  reasoning,
  thinking,
  output_config: config,
  generationConfig: gemini,
  chat_template_kwargs: template,
}: JsonObject): JsonObject {
  const fields = Object.entries({ effort, reasoning, thinking, config, template })
  const thinkingConfig = (gemini as JsonObject | undefined)?.['thinkingConfig']
  const all = [...fields, ['gemini', thinkingConfig]]
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as JsonObject
}

describe.each(['chat', 'responses'])('a task of Open WebUI over a %s connection', (api) => {
  test.each<[string, JsonObject]>([
    ['openai/gpt-5.2', { reasoning: { effort: 'none' } }],
    ['openai/gpt-5-mini', { reasoning: { effort: 'minimal' } }],
    ['openai/gpt-5.1-codex', { reasoning: { effort: 'low' } }],
    ['openai/o4-mini', { reasoning: { effort: 'low' } }],
    ['openai/gpt-5-pro', {}],
    ['openai/gpt-4.1', {}],
    ['openai/some-model', {}],
    ['chat/gpt-5.2', { effort: 'none' }],
    ['chat/gpt-oss-120b', { effort: 'low' }],
    ['chat/llama-4', {}],
    ['openrouter/z-ai/glm-5', { reasoning: { effort: 'none' } }],
    ['openrouter/openai/gpt-5', { reasoning: { effort: 'minimal' } }],
    ['ollama/qwen3:8b', { effort: 'none' }],
    ['vllm/qwen3-32b', { template: { enable_thinking: false } }],
    ['groq/qwen/qwen3-32b', { effort: 'none' }],
    ['groq/llama-4', {}],
    ['mistral/magistral', {}],
    ['deepseek/deepseek-chat', {}],
    [
      'claude/claude-opus-5-5',
      { thinking: { type: 'adaptive', display: 'summarized' }, config: { effort: 'low' } },
    ],
    ['claude/claude-opus-5', { thinking: { type: 'disabled' } }],
    ['claude/claude-opus-4-7', {}],
    ['claude/claude-3-5-haiku', {}],
    ['gemini/gemini-2.5-flash', { gemini: { thinkingBudget: 0 } }],
    ['gemini/gemini-2.5-pro', { gemini: { includeThoughts: true, thinkingBudget: 128 } }],
    ['gemini/gemini-3-pro', { gemini: { includeThoughts: true, thinkingLevel: 'LOW' } }],
    ['gemini/gemini-2.0-flash', {}],
  ])('makes %s reason as little as possible', async (model, expected) => {
    expect(reasoningIn(await send(model, {}, TASK, { api }))).toEqual(expected)
  })
})

test.each<[string, JsonObject]>([
  ['openai/gpt-5.2', { reasoning_effort: 'high' }],
  ['chat/gpt-5.2', { reasoning_effort: 'high' }],
  ['openrouter/z-ai/glm-5', { reasoning: { max_tokens: 500 } }],
  ['vllm/qwen3-32b', { chat_template_kwargs: { enable_thinking: true } }],
  ['claude/claude-opus-5', { reasoning_effort: 'high' }],
  ['gemini/gemini-3-pro', { reasoning_effort: 'high' }],
])('a task to %s with %o keeps what the client set', async (model, own) => {
  const asTask = reasoningIn(await send(model, own, TASK))
  const asChat = reasoningIn(await send(model, own, CHAT, { through: silent }))
  expect(asTask).toEqual(asChat)
  expect(asTask).not.toEqual({})
})

test('the merged answer of several models, which users read, is no task without reasoning', async () => {
  const body = { stream: true }
  expect(reasoningIn(await send('chat/gpt-5.2', body, TASK))).toEqual({})
})

test('explain names the added parameter, and the client is told of no change', async () => {
  const body = { model: 'gemini/gemini-2.5-pro', messages: [{ role: 'user', content: 'Hi' }] }
  const explained = await gateway.post('/v1/context/explain', { ...body, api: 'chat' }, TASK)
  expect(await explained.json()).toMatchObject({
    notes: [
      expect.objectContaining({ did: 'added', field: 'reasoning.effort', why: 'lowest-effort' }),
    ],
  })
  const response = await gateway.post('/v1/chat/completions', body, TASK)
  expect(response.headers.get('x-backstory-dropped')).toBeNull()
})

/** Rejects requests that `isRejected`, as OpenAI does. */
function rejecting(isRejected: (fields: JsonObject) => boolean, message: string): Behaviour {
  return (response, received) => {
    if (!isRejected(reasoningIn(received.json as JsonObject))) return answer(response, received)
    const error = { message, type: 'invalid_request_error', code: 'unsupported_value', param: null }
    return answerJson(400, { error })(response, received)
  }
}

const sent = () => upstream.received.map(({ json }) => reasoningIn(json as JsonObject))

describe('a model that rejects an added parameter', () => {
  test('is asked with the next effort, then without, and later at once as it accepts it', async () => {
    upstream.behave = rejecting(
      ({ reasoning }) => (reasoning as JsonObject | undefined)?.['effort'] === 'none',
      'Reasoning is mandatory for this endpoint and cannot be disabled.',
    )
    await send('openrouter/minimax/minimax-m3', {}, TASK)
    await send('openrouter/minimax/minimax-m3', {}, TASK)
    await send('openrouter/another/model', {}, TASK)
    const [none, low] = [{ reasoning: { effort: 'none' } }, { reasoning: { effort: 'low' } }]
    expect(sent()).toEqual([none, low, low, none, low])
  })

  test('is asked without it if there is no other value', async () => {
    const message = 'chat_template is not supported for Mistral tokenizers.'
    upstream.behave = rejecting(({ template }) => template !== undefined, message)
    await send('vllm/mistral-small', {}, TASK)
    await send('vllm/mistral-small', {}, TASK)
    expect(sent()).toEqual([{ template: { enable_thinking: false } }, {}, {}])
  })

  test('is not asked again if it rejects something else', async () => {
    upstream.behave = answerJson(400, { error: { message: 'The prompt is too long.' } })
    const body = { model: 'chat/gpt-5.3', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await gateway.post('/v1/chat/completions', body, TASK)).status).toBe(400)
    expect(upstream.received).toHaveLength(1)
  })

  test("gets no retry for the client's own parameter", async () => {
    upstream.behave = rejecting(() => true, "'reasoning_effort' does not support 'none'")
    const body = { model: 'chat/gpt-5.3', messages: [{ role: 'user', content: 'Hi' }] }
    const own = { ...body, reasoning_effort: 'none' }
    expect((await gateway.post('/v1/chat/completions', own, TASK)).status).toBe(400)
    expect(upstream.received).toHaveLength(1)
  })
})

describe('summaries of reasoning', () => {
  test.each(['chat', 'responses'])(
    'are requested of models of OpenAI over a %s connection',
    async (api) => {
      const summary = { reasoning: { summary: 'auto' } }
      expect(reasoningIn(await send('openai/gpt-5.2', {}, CHAT, { api }))).toEqual(summary)
      expect(
        reasoningIn(await send('openai/gpt-5.2', { reasoning_effort: 'high' }, CHAT, { api })),
      ).toEqual({
        reasoning: { effort: 'high', summary: 'auto' },
      })
    },
  )

  test.each<[string, string, JsonObject, Readonly<Record<string, string>>]>([
    ['another client', 'openai/gpt-5.2', {}, {}],
    ['a task', 'openai/gpt-5-pro', {}, TASK],
    ['a model without reasoning', 'openai/gpt-4.1', {}, CHAT],
    ['a model of another maker', 'openai/grok-5', {}, CHAT],
    ['a request without reasoning', 'openai/gpt-5.2', { reasoning_effort: 'none' }, CHAT],
    ['an API without summaries', 'chat/gpt-5.2', {}, CHAT],
  ])('are not requested for %s', async (_, model, own, headers) => {
    const { reasoning = {} } = reasoningIn(await send(model, own, headers))
    expect(reasoning).not.toHaveProperty('summary')
  })

  test('are not requested with REASONING_SUMMARY=off, or if the request sets them itself', async () => {
    expect(reasoningIn(await send('openai/gpt-5.2', {}, CHAT, { through: silent }))).toEqual({})
    for (const summary of ['detailed', null]) {
      const own = await send('openai/gpt-5.2', { reasoning: { summary } }, CHAT)
      expect((own['reasoning'] as JsonObject | undefined)?.['summary'] ?? null).toBe(summary)
    }
  })

  test.each([
    'Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.',
    "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
  ])('are not requested again of a model that rejects them: %s', async (message) => {
    upstream.behave = rejecting(
      ({ reasoning }) => JSON.stringify(reasoning ?? '').includes('summary'),
      message,
    )
    const model = `openai/gpt-5-${message.length}`
    const own = { reasoning_effort: 'low' }
    await send(model, own, CHAT)
    await send(model, own, CHAT)
    const [effort, summary] = [{ effort: 'low' }, { summary: 'auto' }]
    expect(sent()).toEqual([
      { reasoning: { ...effort, ...summary } },
      { reasoning: effort },
      { reasoning: effort },
    ])
    expect(gateway.log).toContainEqual(
      expect.objectContaining({
        event: 'added-parameter-rejected',
        fields: expect.objectContaining({
          upstream: 'openai',
          parameter: 'reasoning.summary auto',
        }) as unknown,
      }),
    )
  })
})

test('no request of another client is changed, whatever it sets', async () => {
  const anyRequest = fc.record(
    {
      reasoning_effort: fc.constantFrom('none', 'low', 'high'),
      temperature: fc.constantFrom(0, 1),
      max_tokens: fc.constantFrom(100, 1000),
    },
    { requiredKeys: [] },
  )
  const models = fc.constantFrom('openai/gpt-5.2', 'chat/gpt-5.2', 'vllm/qwen3-32b')
  await fc.assert(
    fc.asyncProperty(models, anyRequest, async (model, own) => {
      const plain = await send(model, own, {})
      expect(plain).toEqual(await send(model, own, {}, { through: silent }))
      const { effort, reasoning, ...others } = reasoningIn(plain)
      expect([others, (reasoning as JsonObject | undefined)?.['effort'] ?? effort]).toEqual([
        {},
        own.reasoning_effort,
      ])
    }),
    { numRuns: 30 },
  )
})
