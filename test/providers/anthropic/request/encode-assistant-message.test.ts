import { describe, expect, test } from 'vitest'
import type { Item, Reasoning } from '../../../../src/core/item.ts'
import {
  answerOf,
  assistant,
  block,
  contentOf,
  decoded,
  encoded,
  itemsOf,
  thought,
  user,
} from '../kit.ts'

const text = (text: string) => ({ type: 'text', text })

describe('reasoning', () => {
  const asked = [user('go')]
  const answered = [assistant('Done.'), user('thanks')]
  const seal = (items: readonly Item[]) => encoded([...asked, ...items, ...answered])

  test('of another provider is left out (C98)', () => {
    const foreign: Reasoning = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }
    expect(seal([foreign]).why).toEqual(['reasoning-of-another-provider'])
    const origin = { wire: 'gemini', account: 'g', model: 'm', prefixHash: null }
    expect(seal([{ ...thought('so'), origin }]).why).toEqual(['reasoning-of-another-provider'])
  })

  test('without a signature is left out', () => {
    expect(seal([thought('so', '')]).why).toEqual(['thinking-unsigned'])
  })

  test('comes back out of its seal, unless its text was changed (C98)', () => {
    const thinking = block({ type: 'thinking', thinking: 'so', signature: 'sig' })
    const redacted = block({ type: 'redacted_thinking', data: 'c2VhbGVk' })
    const kept = itemsOf(decoded(answerOf(thinking, redacted))).map((item) => {
      // A client without memory sends back what it knows.
      if (item.type !== 'reasoning') throw new Error('Expected reasoning.')
      const { type, summary, encrypted_content = null } = item
      return { type, summary, encrypted_content }
    })
    expect(contentOf(seal(kept).body, 1)).toEqual([
      { type: 'thinking', thinking: 'so', signature: 'sig' },
      { type: 'redacted_thinking', data: 'c2VhbGVk' },
      text('Done.'),
    ])
    const changed = kept.map((item) => ({ ...item, summary: [] }))
    expect(seal(changed).why).toEqual(['thinking-changed'])
  })

  test('with nothing behind it is left out', () => {
    const { body, why } = encoded([user('go'), thought('so'), user('still there?')])
    expect(body['messages']).toEqual([
      { role: 'user', content: [text('go'), text('still there?')] },
    ])
    expect(why).toEqual(['reasoning-without-follower'])
  })

  test('is not sent to a model that cannot read it', () => {
    const items = [...asked, thought('so'), ...answered]
    expect(encoded(items, { model: 'claude-3-haiku-20240307' }).why).toEqual([
      'thinking-unsupported',
    ])
  })
})

describe('items of other providers', () => {
  test('are left out, and those of this one are kept as they are', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } }
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [] }
    const { body, why } = encoded([
      user('go'),
      { type: 'opaque', raw: { type: 'web_search_call', id: 'ws_1' } },
      { type: 'opaque', raw: search },
      { type: 'opaque', raw: { ...found, id: 'item_1' } },
      { type: 'opaque', raw: { type: 'hologram' }, native: { anthropic: {} } },
      assistant('Done.'),
      user('thanks'),
    ])
    expect(contentOf(body, 1)).toEqual([search, found, { type: 'hologram' }, text('Done.')])
    expect(why).toEqual(['item-of-another-provider'])
  })

  test('a paused turn ends with the unanswered call, a turn that is over does not', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    const paused: Item[] = [user('go'), assistant('Hm.'), { type: 'opaque', raw: search }]
    expect(encoded(paused, { model: 'claude-opus-4-6' })).toMatchObject({
      body: { messages: [{}, { content: [text('Hm.'), search] }] },
      why: [],
    })
    expect(encoded([...paused, user('well?')]).why).toEqual(['server-tool-without-result'])
  })
})
