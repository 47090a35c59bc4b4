/**
 * Tests with generated conversations and settings that requests are valid, reproducible and only
 * grow.
 */
import fc, { type Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { PromptParameters } from '../../../src/core/prompt.ts'
import { findAnthropicFaults, findAnthropicRefusal } from '../../support/anthropic-laws.ts'
import { conversation, tidyConversation } from '../../support/conversations.ts'
import { assistant, encode, look, user } from './kit.ts'

const MODELS = [
  'claude-3-5-haiku-20241022',
  'claude-3-7-sonnet-20250219',
  'claude-sonnet-4-5',
  'claude-opus-4-6',
  'claude-opus-4-8',
  'claude-sonnet-5',
  'claude-fable-5',
  'claude-fable-5-1',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'kimi-k2',
]

/**
 * Signs some reasoning, makes some ids and arguments invalid, and adds blocks of this provider;
 * `salt` selects the items.
 */
function vary(items: readonly Item[], salt: readonly number[]): readonly Item[] {
  return items.flatMap((item, at): readonly Item[] => {
    const grain = salt[at % salt.length] ?? 0
    if (item.type === 'reasoning' && grain > 3) return [createThinking(grain)]
    if (item.type === 'function_call') {
      return [{ ...item, call_id: changeId(item.call_id), arguments: ARGUMENTS[grain] ?? '{}' }]
    }
    if (item.type === 'function_call_output') return [{ ...item, call_id: changeId(item.call_id) }]
    if (item.type === 'message' && item.role === 'assistant' && grain > 7)
      return [...createSearch(grain), item]
    if (item.type === 'message' && grain === 7)
      return [{ ...item, content: [...item.content, IMAGE] }]
    return [item]
  })
}

const IMAGE = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' } as const

const ARGUMENTS = ['{}', '', '{"a":', '[1]', '"text"', '{"a":{"b":1}}']

function changeId(id: string): string {
  return id === 'call_1' ? 'functions.look:1' : id
}

function createThinking(grain: number): Item {
  const native: JsonObject =
    grain > 8
      ? { type: 'redacted_thinking', data: 'sealed' }
      : { type: 'thinking', thinking: 'so', signature: grain > 4 ? 'sig' : '' }
  return {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'so' }],
    native: { anthropic: native },
  }
}

function createSearch(grain: number): readonly Item[] {
  const id = `srvtoolu_${grain}`
  const serverCall: Item = {
    type: 'opaque',
    raw: { type: 'server_tool_use', id, name: 'web_search', input: {} },
  }
  const serverResult: Item = {
    type: 'opaque',
    raw: { type: 'web_search_tool_result', tool_use_id: id, content: [] },
  }
  return grain > 8 ? [serverCall] : [serverCall, serverResult]
}

const specialConversation = fc
  .tuple(conversation, fc.array(fc.nat(9), { minLength: 3, maxLength: 20 }))
  .map(([items, salt]) => vary(items, salt))

const params: Arbitrary<Partial<PromptParameters>> = fc.record(
  {
    model: fc.constantFrom(...MODELS),
    instructions: fc.constantFrom(null, '', 'Be brief.'),
    tools: fc.subarray([
      look(),
      { ...look('files.read'), parameters: { anyOf: [{ properties: { path: {} } }] } },
      { type: 'custom', name: 'grep', description: 'Finds.', format: null } as const,
      { type: 'opaque', raw: { type: 'web_search_preview' } } as const,
    ]),
    toolChoice: fc.constantFrom<PromptParameters['toolChoice']>(
      null,
      { type: 'auto' },
      { type: 'none' },
      { type: 'required' },
      { type: 'allowed', mode: 'required', names: ['grep'] },
    ),
    parallelToolCalls: fc.constantFrom(null, false, true),
    temperature: fc.constantFrom(null, 0, 0.7, 2),
    topP: fc.constantFrom(null, 0.9),
    maxOutputTokens: fc.constantFrom(null, 1, 2000, 500_000),
    stop: fc.constantFrom([], ['\n\n', 'END']),
    effort: fc.constantFrom(null, 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    format: fc.constantFrom<PromptParameters['format']>(
      null,
      { type: 'json_object' },
      {
        type: 'json_schema',
        name: 'answer',
        schema: { type: 'object', properties: { a: { type: 'number', minimum: 1 } } },
        strict: true,
        description: null,
      },
    ),
    safetyIdentifier: fc.constantFrom(null, 'u'.repeat(300)),
    extra: fc.constantFrom({}, { top_k: 5, logit_bias: { '1': 2 } }),
  },
  { requiredKeys: ['model'] },
)

const WITH_BREAKPOINTS: JsonObject = {}

describe('properties of encoded Anthropic requests', () => {
  test('the Anthropic encoder creates valid requests for arbitrary conversations and parameters', () => {
    fc.assert(
      fc.property(specialConversation, params, (items, params) => {
        expect(findAnthropicFaults(encode(items, params, WITH_BREAKPOINTS).body)).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  test('the Anthropic encoder creates the same bytes for equal prompts', () => {
    fc.assert(
      fc.property(specialConversation, params, (items, params) => {
        const copy = structuredClone(items)
        const once = JSON.stringify(encode(items, params, WITH_BREAKPOINTS))
        expect(JSON.stringify(encode(copy, params, WITH_BREAKPOINTS))).toBe(once)
        expect(items).toEqual(copy)
      }),
      { numRuns: 50 },
    )
  })

  test('the Anthropic encoder repeats the blocks of an earlier request unchanged in the next request', () => {
    const rounds = fc.tuple(
      tidyConversation,
      tidyConversation,
      fc.array(fc.nat(9), { minLength: 3 }),
    )
    fc.assert(
      fc.property(rounds, params, ([before, more, salt], params) => {
        const earlier = [...vary(before, salt), assistant('So.'), user('and then?')]
        const later = [...earlier, ...vary(more, salt), assistant('So.'), user('go on')]
        const first = listBlocks(encode(earlier, params).body)
        const second = listBlocks(encode(later, params).body)
        expect(second.slice(0, first.length)).toEqual(first)
      }),
      { numRuns: 100 },
    )
  })
})

function listBlocks({ messages }: JsonObject): readonly string[] {
  const all = messages as readonly { readonly role: string; readonly content: readonly object[] }[]
  return all.flatMap(({ role, content }) => content.map((block) => JSON.stringify([role, block])))
}

describe('the checker of Anthropic requests that tests use', () => {
  const validRequest = {
    model: 'claude-sonnet-4-5',
    max_tokens: 10,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  }
  const tools = [{ name: 'look', input_schema: { type: 'object' } }]
  const call = { type: 'tool_use', id: 'a', name: 'look', input: {} }
  const result = { type: 'tool_result', tool_use_id: 'a', content: 'it' }
  const turn = (role: string, ...content: readonly JsonObject[]) => ({ role, content })
  const text = (text: string) => ({ type: 'text', text })
  const hi = turn('user', text('hi'))

  test('the checker of Anthropic requests accepts a valid request', () => {
    expect(findAnthropicRefusal(validRequest)).toBeNull()
  })

  test.each<readonly [string, JsonObject]>([
    [
      'immediately after',
      { tools, messages: [hi, turn('assistant', call), turn('user', text('no'))] },
    ],
    [
      'immediately after',
      { tools, messages: [hi, turn('assistant', call), turn('user', text('so'), result)] },
    ],
    ['unexpected `tool_use_id`', { tools, messages: [turn('user', result)] }],
    ['must define tools', { messages: [hi, turn('assistant', call), turn('user', result)] }],
    ['must alternate', { messages: [hi, hi] }],
    ['must alternate', { messages: [turn('assistant', text('hi'))] }],
    ['non-empty', { messages: [turn('user', text(''))] }],
    ['non-whitespace', { messages: [turn('user', text(' '))] }],
    [
      'Invalid `signature`',
      { messages: [hi, turn('assistant', { type: 'thinking', thinking: 'x' }, text('y')), hi] },
    ],
    [
      'final block',
      { messages: [hi, turn('assistant', { type: 'redacted_thinking', data: 'x' }), hi] },
    ],
    [
      'bad tool_use',
      {
        tools,
        messages: [hi, turn('assistant', { ...call, name: 'a b' }), turn('user', result)],
      },
    ],
    [
      'Expected `thinking`',
      {
        tools,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        max_tokens: 2000,
        messages: [hi, turn('assistant', call), turn('user', result)],
      },
    ],
    [
      'greater than `thinking.budget_tokens`',
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
    ],
    [
      'may only be set to 1',
      { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000, temperature: 0 },
    ],
    [
      'forces tool use',
      {
        tools,
        tool_choice: { type: 'any' },
        thinking: { type: 'enabled', budget_tokens: 1024 },
        max_tokens: 2000,
      },
    ],
    ['thinking.type.adaptive', { thinking: { type: 'adaptive' } }],
    ['thinking.type.disabled', { model: 'claude-opus-5-5', thinking: { type: 'disabled' } }],
    ['while providing tools', { tool_choice: { type: 'auto' } }],
    ['deprecated', { model: 'claude-opus-4-8', temperature: 0.5 }],
    ['prefill', { model: 'claude-opus-4-6', messages: [hi, turn('assistant', text('Yes,'))] }],
    ['trailing whitespace', { messages: [hi, turn('assistant', text('Yes, '))] }],
    [
      'maximum of 4',
      { system: Array.from({ length: 5 }, () => ({ ...text('x'), cache_control: {} })) },
    ],
    ['Extra inputs', { seed: 1 }],
    ['top level', { tools: [{ name: 'look', input_schema: { type: 'object', oneOf: [] } }] }],
  ])('the checker of Anthropic requests finds the fault "%s"', (message, change) => {
    const { error } = findAnthropicRefusal({ ...validRequest, ...change }) ?? {}
    expect(error).toMatchObject({ message: expect.stringContaining(message) as string })
  })
})
