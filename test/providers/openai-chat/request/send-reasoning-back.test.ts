/** Reasoning that a stateless client sends back, and reasoning that an upstream requires but is unknown. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { Prompt } from '../../../../src/core/prompt.ts'
import { openaiChat } from '../../../../src/providers/openai-chat/openai-chat.ts'
import {
  accountOf,
  assistant,
  call,
  chunk,
  DONE,
  finish,
  itemsIn,
  output,
  parseChatPrompt,
  promptOf,
  decodeChunks,
  encode,
  encodePrompt,
  reasoning,
  toolCall,
  user,
} from '../kit.ts'

const DETAIL = { type: 'reasoning.text', text: 'Hm', signature: 'SIG', format: 'f', index: 0 }
const ROUTER = { profile: 'openrouter' }

/** Decodes an answer with one reasoning detail for a request with these body fields. */
function decodeReasoning(body: JsonObject, detail: JsonObject = DETAIL): JsonObject {
  const prompt = promptOf([user('go')])
  const request: Prompt = { ...prompt, source: { ...prompt.source, body } }
  const chunks = [chunk({ reasoning_details: [detail] }), chunk({ content: 'so' }), finish(), DONE]
  const [item] = itemsIn(decodeChunks(chunks, ROUTER, request))
  return item as unknown as JsonObject
}

describe('signed reasoning details', () => {
  const packed = decodeReasoning({ store: false })['encrypted_content']

  test('signed reasoning details are packed into encrypted_content only for a client that stores the conversation itself', () => {
    expect(packed).toBe(`chat:1:up:m:${JSON.stringify([DETAIL])}`)
    expect(decodeReasoning({})['encrypted_content']).toBeUndefined()
    const { signature: _signature, ...unsigned } = DETAIL
    expect(decodeReasoning({ store: false }, unsigned)['encrypted_content']).toBeUndefined()
  })

  const createItem = (encrypted_content: unknown): Item =>
    ({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content,
    }) as Item

  test('signed reasoning details are sent back to the chat upstream unchanged (C98)', () => {
    const { messages } = encode(
      [user('go'), createItem(packed), assistant('so'), user('and?')],
      {},
      ROUTER,
    )
    expect(messages).toMatchObject([{}, { content: 'so', reasoning_details: [DETAIL] }, {}])
  })

  test('signed reasoning details are sent back only to the model that made them (C98)', () => {
    const items = [user('go'), createItem(packed), assistant('so'), user('and?')]
    const { messages, codes } = encode(items, { model: 'another' }, ROUTER)
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'so' },
      { role: 'user', content: 'and?' },
    ])
    expect(codes).toEqual(['reasoning-of-elsewhere'])
  })

  test.each(['chat:1:', 'chat:1:up:m:', 'chat:1:up:m:{', 'chat:1:%:m:[]', 'gAAAA', ''])(
    'the reasoning summary is sent if the packed details cannot be unpacked: %j',
    (broken) => {
      const items = [user('go'), createItem(broken), assistant('so'), user('and?')]
      expect(encode(items, {}, ROUTER).messages).toMatchObject([{}, { reasoning: 'Hm' }, {}])
    },
  )
})

describe('reasoning for a service that requires it with tool calls', () => {
  const deepseek = { profile: 'deepseek' }
  const loop = (...reasoning: readonly Item[]) => [
    user('go'),
    ...reasoning,
    call('a'),
    output('a'),
    assistant('so'),
    user('and?'),
  ]

  test('a service that requires reasoning with tool calls gets the stored reasoning, or an empty string (C98)', () => {
    const [, calls, , answer] = encode(loop(reasoning('Hm')), {}, deepseek).messages as JsonObject[]
    expect(calls).toMatchObject({ reasoning_content: 'Hm' })
    expect(answer).not.toHaveProperty('reasoning_content')
    const unknown = encode(loop(), {}, deepseek)
    expect(unknown.messages).toMatchObject([{}, { reasoning_content: '' }, {}, {}, {}])
    expect(unknown.notes).toMatchObject([{ did: 'added', at: 1, why: 'reasoning-stand-in' }])
    const [, vllmCalls] = encode(loop(), {}, { profile: 'vllm' }).messages as JsonObject[]
    expect(vllmCalls).not.toHaveProperty('reasoning_content')
  })

  const messages = (fields: JsonObject): JsonObject[] => [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [toolCall('a')], ...fields },
    { role: 'tool', tool_call_id: 'a', content: 'done' },
  ]

  test("required reasoning is added to a Chat Completions client's tool calls, and its other messages stay unchanged", () => {
    const without = parseChatPrompt({ model: 'm', messages: messages({}) })
    expect(encodePrompt(without, deepseek).messages).toEqual(messages({ reasoning_content: '' }))
    const otherField = parseChatPrompt({ model: 'm', messages: messages({ reasoning: 'Hm' }) })
    expect(encodePrompt(otherField, deepseek).messages).toEqual(
      messages({ reasoning_content: 'Hm' }),
    )
    const answer = { role: 'assistant', content: 'so', reasoning_content: 'Aha' }
    const earlier = [{ role: 'user', content: 'hi' }, answer]
    const before = parseChatPrompt({ model: 'm', messages: [...earlier, ...messages({})] })
    expect(encodePrompt(before, deepseek).messages).toMatchObject([
      {},
      {},
      ...messages({ reasoning_content: '' }),
    ])
    const own = parseChatPrompt({ model: 'm', messages: messages({ reasoning_content: 'Hm' }) })
    expect(openaiChat.encode(own, accountOf(deepseek)).bytes).toBe(own.source.bytes())
  })
})

test('the quirk `strictAlternation` merges an assistant text and the calls after it into one message', () => {
  const items = [user('go'), assistant('Hm'), assistant('so'), call('a'), output('a')]
  expect(encode(items, {}, { strictAlternation: true }).messages).toEqual([
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'Hm\nso', tool_calls: [toolCall('a')] },
    { role: 'tool', tool_call_id: 'a', content: 'done' },
  ])
})

test("the quirk `retell` makes the gateway decode and rewrite answers that OpenAI's SDKs cannot read", () => {
  const prompt = parseChatPrompt({ model: 'm', messages: [{ role: 'user', content: 'go' }] })
  expect(openaiChat.getPassThroughDialect(prompt, accountOf())).toBe('chat')
  expect(openaiChat.getPassThroughDialect(prompt, accountOf({ profile: 'mistral' }))).toBeNull()
  expect(openaiChat.getPassThroughDialect(prompt, accountOf({ retell: true }))).toBeNull()
})

describe('models that need their reasoning on turns without tool calls, too', () => {
  const MODELS = ['moonshotai/Kimi-K3', 'kimi-k2.7-code', 'MiniMaxAI/MiniMax-M3', 'zai-org/GLM-5.2']
  const talk = [user('go'), reasoning('Hm'), assistant('so'), user('and?')]
  const answerOf = (model: string, quirks: JsonObject) =>
    (encode(talk, { model }, quirks).messages as JsonObject[])[1]

  test.each(MODELS)('%s gets the reasoning of every answer back', (model) => {
    for (const quirks of [{}, { profile: 'vllm' }, { profile: 'deepseek' }])
      expect(answerOf(model, quirks)).toEqual({
        role: 'assistant',
        content: 'so',
        reasoning_content: 'Hm',
      })
    expect(answerOf(model, { profile: 'groq' })).toMatchObject({ reasoning: 'Hm' })
  })

  test('the quirks of the account take precedence over those of the model', () => {
    for (const quirks of [
      { profile: 'vllm', reasoningOn: 'calls' },
      { reasoningField: 'none' },
    ] as const)
      expect(answerOf('kimi-k3', quirks)).toEqual({ role: 'assistant', content: 'so' })
  })

  test.each(['kimi-k2', 'kimi-k2.7', 'kimi-k30', 'minimax-m30', 'glm-5.20', 'glm-5', 'qwen3'])(
    '%s gets the reasoning of tool calls only at a service with the profile `vllm`',
    (model) => {
      expect(answerOf(model, { profile: 'vllm' })).toEqual({ role: 'assistant', content: 'so' })
    },
  )
})
