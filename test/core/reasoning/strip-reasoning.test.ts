import { describe, expect, test } from 'vitest'
import type { Item, ItemNativeFields } from '../../../src/core/item.ts'
import { hasEncryptedOrSignedReasoning } from '../../../src/core/reasoning/is-encrypted-or-signed.ts'
import { stripReasoning } from '../../../src/core/reasoning/strip-reasoning.ts'
import { talk } from '../../support/talk.ts'

function call(native: ItemNativeFields): Item {
  return { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}', native }
}

test('stripReasoning removes reasoning, encrypted or not', () => {
  for (const item of talk`
    thinks: Hm.
    sealed: Hm.
  `) {
    expect(stripReasoning(item, 'anthropic')).toBeNull()
  }
})

test.each<[string, ItemNativeFields, ItemNativeFields]>([
  [
    'gemini',
    { gemini: { id: 'w1', thoughtSignature: 'Ck', after: ['Ct'] } },
    { gemini: { id: 'w1' } },
  ],
  [
    'gemini',
    { gemini: { signatures: [{ start: 0, end: 1, thoughtSignature: 'Ck' }], chars: 1 } },
    { gemini: {} },
  ],
  [
    'chat',
    { chat: { $legacy: true, reasoning_details: [], $entry: { index: 0, extra_content: {} } } },
    { chat: { $legacy: true, $entry: { index: 0 } } },
  ],
])('stripReasoning removes the signatures of the wire %s from %o', (wire, native, left) => {
  expect(stripReasoning(call(native), wire)).toEqual(call(left))
})

test('stripReasoning removes the signature of an unknown Gemini part', () => {
  const part = { executableCode: { code: '1' } }
  const item = (part: object): Item => ({
    type: 'opaque',
    raw: { type: 'gemini:part', part: { ...part } },
    native: { gemini: {} },
  })
  expect(stripReasoning(item({ ...part, thoughtSignature: 'Ck' }), 'gemini')).toEqual(item(part))
})

test.each<[string, ItemNativeFields]>([
  ['anthropic', { gemini: { thoughtSignature: 'Ck' } }],
  ['anthropic', { anthropic: { caller: { type: 'direct' } } }],
  ['gemini', { gemini: { id: 'w1' } }],
  ['chat', { chat: { $entry: { index: 0 } } }],
])(
  'stripReasoning leaves data without a signature of the wire %s unchanged: %o',
  (wire, native) => {
    const item = call(native)
    expect(stripReasoning(item, wire)).toBe(item)
  },
)

describe('detection of encrypted or signed reasoning', () => {
  const thought = talk`thinks: Hm.`
  test.each<ItemNativeFields>([
    { anthropic: { type: 'thinking', thinking: 'Hm.', signature: 'Er' } },
    { gemini: { thoughtSignature: 'Ck' } },
    { chat: { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'or' }] } },
    { chat: { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] } },
  ])('reasoning with a signature or encrypted details is detected: %o', (native) => {
    expect(hasEncryptedOrSignedReasoning(thought.map((item) => ({ ...item, native })))).toBe(true)
  })

  test('reasoning with encrypted content is detected, and plain reasoning text is not', () => {
    expect(hasEncryptedOrSignedReasoning(talk`sealed: x`)).toBe(true)
    expect(hasEncryptedOrSignedReasoning(thought)).toBe(false)
    const native = { chat: { $field: 'reasoning_content', reasoning_details: [{ text: 'Hm.' }] } }
    expect(hasEncryptedOrSignedReasoning(thought.map((item) => ({ ...item, native })))).toBe(false)
  })
})
