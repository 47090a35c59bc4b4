/** Reasoning on its way back: kept by a client without memory, or known to nobody any more. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Prompt } from '../../../src/core/prompt.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import {
  accountOf,
  assistant,
  call,
  chunk,
  DONE,
  finish,
  itemsIn,
  output,
  ownPrompt,
  promptOf,
  receive,
  send,
  sendPrompt,
  thought,
  toolCall,
  user,
} from './kit.ts'

const DETAIL = { type: 'reasoning.text', text: 'Hm', signature: 'SIG', format: 'f', index: 0 }
const ROUTER = { profile: 'openrouter' }

/** What a model says of its reasoning to a client that sends these fields along. */
function reasoningFor(body: JsonObject, detail: JsonObject = DETAIL): JsonObject {
  const prompt = promptOf([user('go')])
  const asked: Prompt = { ...prompt, source: { ...prompt.source, body } }
  const chunks = [chunk({ reasoning_details: [detail] }), chunk({ content: 'so' }), finish(), DONE]
  const [item] = itemsIn(receive(chunks, ROUTER, asked))
  return item as unknown as JsonObject
}

describe('signed details', () => {
  const sealed = reasoningFor({ store: false })['encrypted_content']

  test('are sealed for a client that keeps the conversation, and for no other', () => {
    expect(sealed).toBe(`chat:1:up:m:${JSON.stringify([DETAIL])}`)
    expect(reasoningFor({})['encrypted_content']).toBeUndefined()
    const { signature: _signature, ...unsigned } = DETAIL
    expect(reasoningFor({ store: false }, unsigned)['encrypted_content']).toBeUndefined()
  })

  const back = (encrypted_content: unknown): Item =>
    ({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content,
    }) as Item

  test('go back as they were (C98)', () => {
    const { messages } = send([user('go'), back(sealed), assistant('so'), user('and?')], {}, ROUTER)
    expect(messages).toMatchObject([{}, { content: 'so', reasoning_details: [DETAIL] }, {}])
  })

  test('go back to their model alone (C98)', () => {
    const items = [user('go'), back(sealed), assistant('so'), user('and?')]
    const { messages, whys } = send(items, { model: 'another' }, ROUTER)
    expect(messages).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'so' },
      { role: 'user', content: 'and?' },
    ])
    expect(whys).toEqual(['reasoning-of-elsewhere'])
  })

  test.each(['chat:1:', 'chat:1:up:m:', 'chat:1:up:m:{', 'chat:1:%:m:[]', 'gAAAA', ''])(
    'that cannot be read leave the summary: %j',
    (broken) => {
      const items = [user('go'), back(broken), assistant('so'), user('and?')]
      expect(send(items, {}, ROUTER).messages).toMatchObject([{}, { reasoning: 'Hm' }, {}])
    },
  )
})

describe('a service that demands reasoning with calls', () => {
  const deepseek = { profile: 'deepseek' }
  const loop = (...reasoning: readonly Item[]) => [
    user('go'),
    ...reasoning,
    call('a'),
    output('a'),
    assistant('so'),
    user('and?'),
  ]

  test('is given what is known, and else an empty one (C98)', () => {
    const [, calls, , said] = send(loop(thought('Hm')), {}, deepseek).messages as JsonObject[]
    expect(calls).toMatchObject({ reasoning_content: 'Hm' })
    expect(said).not.toHaveProperty('reasoning_content')
    const unknown = send(loop(), {}, deepseek)
    expect(unknown.messages).toMatchObject([{}, { reasoning_content: '' }, {}, {}, {}])
    expect(unknown.notes).toMatchObject([{ did: 'added', at: 1, why: 'reasoning-stand-in' }])
    const [, others] = send(loop(), {}, { profile: 'vllm' }).messages as JsonObject[]
    expect(others).not.toHaveProperty('reasoning_content')
  })

  const messages = (fields: JsonObject): JsonObject[] => [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [toolCall('a')], ...fields },
    { role: 'tool', tool_call_id: 'a', content: 'done' },
  ]

  test('is given it in the name of a chat client as well, which is not otherwise touched', () => {
    const without = ownPrompt({ model: 'm', messages: messages({}) })
    expect(sendPrompt(without, deepseek).messages).toEqual(messages({ reasoning_content: '' }))
    const elsewhere = ownPrompt({ model: 'm', messages: messages({ reasoning: 'Hm' }) })
    expect(sendPrompt(elsewhere, deepseek).messages).toEqual(messages({ reasoning_content: 'Hm' }))
    const said = { role: 'assistant', content: 'so', reasoning_content: 'Aha' }
    const earlier = [{ role: 'user', content: 'hi' }, said]
    const before = ownPrompt({ model: 'm', messages: [...earlier, ...messages({})] })
    expect(sendPrompt(before, deepseek).messages).toMatchObject([
      {},
      {},
      ...messages({ reasoning_content: '' }),
    ])
    const own = ownPrompt({ model: 'm', messages: messages({ reasoning_content: 'Hm' }) })
    expect(openaiChat.encode(own, accountOf(deepseek)).bytes).toBe(own.source.bytes())
  })
})

test('where roles must take turns, words and the calls behind them are one message', () => {
  const items = [user('go'), assistant('Hm'), assistant('so'), call('a'), output('a')]
  expect(send(items, {}, { strictAlternation: true }).messages).toEqual([
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'Hm\nso', tool_calls: [toolCall('a')] },
    { role: 'tool', tool_call_id: 'a', content: 'done' },
  ])
})

test('what OpenAI’s clients cannot read is told anew', () => {
  const prompt = ownPrompt({ model: 'm', messages: [{ role: 'user', content: 'go' }] })
  expect(openaiChat.getPassThroughDialect(prompt, accountOf())).toBe('chat')
  expect(openaiChat.getPassThroughDialect(prompt, accountOf({ profile: 'mistral' }))).toBeNull()
  expect(openaiChat.getPassThroughDialect(prompt, accountOf({ retell: true }))).toBeNull()
})
