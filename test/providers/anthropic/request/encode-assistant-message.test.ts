import { describe, expect, test } from 'vitest'
import type { Item, Reasoning } from '../../../../src/core/item.ts'
import {
  createAnswer,
  assistant,
  block,
  contentAt,
  decode,
  encode,
  itemsOf,
  thought,
  user,
} from '../kit.ts'

const text = (text: string) => ({ type: 'text', text })

describe('reasoning in Anthropic requests', () => {
  const before = [user('go')]
  const after = [assistant('Done.'), user('thanks')]
  const encodeBetween = (items: readonly Item[]) => encode([...before, ...items, ...after])

  test('reasoning of another provider is not sent to Anthropic (C98)', () => {
    const foreign: Reasoning = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }
    expect(encodeBetween([foreign]).codes).toEqual(['reasoning-of-another-provider'])
    const origin = { wire: 'gemini', account: 'g', model: 'm', prefixHash: null }
    expect(encodeBetween([{ ...thought('so'), origin }]).codes).toEqual([
      'reasoning-of-another-provider',
    ])
  })

  test('reasoning without a signature is not sent to Anthropic', () => {
    expect(encodeBetween([thought('so', '')]).codes).toEqual(['thinking-unsigned'])
  })

  test('a signature that consists of blanks counts as missing', () => {
    expect(encodeBetween([thought('so', ' \n')]).codes).toEqual(['thinking-unsigned'])
    const packed = { ...thought('so', ''), encrypted_content: 'anthropic:thinking:00000000: ' }
    const { native: _native, ...unrecorded } = packed
    expect(encodeBetween([unrecorded]).codes).toEqual(['thinking-changed'])
  })

  test('the thinking of an answer is sent completely or not at all', () => {
    const origin = { wire: 'anthropic', account: 'a', model: 'm', prefixHash: null }
    const recorded = [thought('one'), thought('two', '')].map((item) => ({ ...item, origin }))
    expect(encodeBetween(recorded).codes).toEqual(['thinking-incomplete', 'thinking-unsigned'])
    expect(contentAt(encodeBetween(recorded).body, 1)).toEqual([text('Done.')])
    // Items that only the client stored have no origin; an answer then ends at the next input.
    const unrecorded = [thought('one', ''), assistant('So.'), thought('two')]
    expect(encodeBetween(unrecorded).codes).toEqual(['thinking-unsigned', 'thinking-incomplete'])
    const later = [thought('one', ''), assistant('So.'), user('go on'), thought('two')]
    expect(encodeBetween(later).codes).toEqual(['thinking-unsigned'])
    expect(contentAt(encodeBetween(later).body, 3)).toMatchObject([
      { thinking: 'two' },
      text('Done.'),
    ])
  })

  test('thinking for Anthropic is restored from encrypted_content, unless its text was edited (C98)', () => {
    const thinking = block({ type: 'thinking', thinking: 'so', signature: 'sig' })
    const redacted = block({ type: 'redacted_thinking', data: 'c2VhbGVk' })
    const kept = itemsOf(decode(createAnswer(thinking, redacted))).map((item) => {
      // A client without storage sends back only the public fields.
      if (item.type !== 'reasoning') throw new Error('Expected reasoning.')
      const { type, summary, encrypted_content = null } = item
      return { type, summary, encrypted_content }
    })
    expect(contentAt(encodeBetween(kept).body, 1)).toEqual([
      { type: 'thinking', thinking: 'so', signature: 'sig' },
      { type: 'redacted_thinking', data: 'c2VhbGVk' },
      text('Done.'),
    ])
    const changed = kept.map((item) => ({ ...item, summary: [] }))
    expect(encodeBetween(changed).codes).toEqual(['thinking-changed', 'thinking-incomplete'])
  })

  test('reasoning at the end of an assistant message is not sent to Anthropic', () => {
    const { body, codes } = encode([user('go'), thought('so'), user('still there?')])
    expect(body['messages']).toEqual([
      { role: 'user', content: [text('go'), text('still there?')] },
    ])
    expect(codes).toEqual(['reasoning-without-follower'])
  })

  test('reasoning is not sent to a Claude model that cannot read it', () => {
    const items = [...before, thought('so'), ...after]
    expect(encode(items, { model: 'claude-3-haiku-20240307' }).codes).toEqual([
      'thinking-unsupported',
    ])
  })
})

describe('opaque items in Anthropic requests', () => {
  test("opaque items of other providers are not sent to Anthropic, and Anthropic's own are sent unchanged", () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } }
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [] }
    const { body, codes } = encode([
      user('go'),
      { type: 'opaque', raw: { type: 'web_search_call', id: 'ws_1' } },
      { type: 'opaque', raw: search },
      { type: 'opaque', raw: { ...found, id: 'item_1' } },
      { type: 'opaque', raw: { type: 'hologram' }, native: { anthropic: {} } },
      assistant('Done.'),
      user('thanks'),
    ])
    expect(contentAt(body, 1)).toEqual([search, found, { type: 'hologram' }, text('Done.')])
    expect(codes).toEqual(['item-of-another-provider'])
  })

  test('a call of an Anthropic server tool without a result is sent only at the end of a paused answer', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    const paused: Item[] = [user('go'), assistant('Hm.'), { type: 'opaque', raw: search }]
    expect(encode(paused, { model: 'claude-opus-4-6' })).toMatchObject({
      body: { messages: [{}, { content: [text('Hm.'), search] }] },
      codes: [],
    })
    expect(encode([...paused, user('well?')]).codes).toEqual(['server-tool-without-result'])
  })
})
