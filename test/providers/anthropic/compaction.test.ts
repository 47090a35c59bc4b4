/** Compaction by the API itself: asked for, told as an item, and given back as it came. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Prompt } from '../../../src/core/prompt.ts'
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts'
import { anthropicComplaints } from '../../support/anthropic-laws.ts'
import {
  accountOf,
  answerOf,
  assistant,
  block,
  decoded,
  expectOrdered,
  itemsOf,
  promptOf,
  system,
  textBlock,
  user,
} from './kit.ts'

const MODEL = 'claude-sonnet-5'
const HI = textBlock('Hi')
const BLOCK = { type: 'compaction', content: 'So far: grüezi 🦊.', encrypted_content: 'Xy==' }
const STREAMED = block(
  { type: 'compaction', content: null },
  {
    type: 'compaction_delta',
    content: 'So far: grüezi 🦊.',
    encrypted_content: 'Xy==',
  },
)

function encode(items: readonly Item[], more: Partial<Prompt> = {}, headers = {}) {
  const prompt = { ...promptOf(items, { model: MODEL }), ...more }
  const { body, headers: sent, notes } = anthropic.encode(prompt, { ...accountOf(), headers })
  return { body, headers: sent, why: notes.map(({ why }) => why) }
}

const editAt = (value: number) => ({
  edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value } }],
})

describe('it is asked for', () => {
  test('with the beta that it is a word of', () => {
    const { body, headers, why } = encode([user('Hi')], { compactAbove: 60_000 })
    expect(body['context_management']).toEqual(editAt(60_000))
    expect(headers).toEqual({ 'anthropic-beta': 'compact-2026-01-12' })
    expect(why).toEqual(['compaction-asked'])
    expect(anthropicComplaints(body)).toEqual([])
  })

  test('beside the betas of the account, and not twice', () => {
    const headersWith = (headers: object) =>
      encode([user('Hi')], { compactAbove: 60_000 }, headers).headers
    expect(headersWith({ 'Anthropic-Beta': 'a-1,b-2' })).toEqual({
      'Anthropic-Beta': 'a-1,b-2,compact-2026-01-12',
    })
    expect(headersWith({ 'anthropic-beta': 'a-1, compact-2026-01-12' })).toEqual({})
  })

  test('of nobody else', () => {
    const { body, headers, why } = encode([user('Hi')])
    expect([body['context_management'], headers, why]).toEqual([undefined, undefined, []])
  })

  test.each([
    ['https://api.anthropic.com/v1', MODEL, {}, 50_000],
    ['https://api.anthropic.com/v1', 'claude-sonnet-4-5', {}, null],
    ['https://api.anthropic.com/v1', MODEL, { compact: false }, null],
    ['https://claude.example.com/v1', MODEL, {}, null],
    ['https://claude.example.com/v1', MODEL, { compact: true }, 50_000],
    ['https://other.example.com/v1', 'glm-5', { compact: true }, 50_000],
    ['https://claude.example.com/v1', 'claude-3-5-haiku', { compact: true }, null],
  ])('who can: %s with %s, %j', (baseUrl, model, quirks, least) => {
    expect(anthropic.getCompactionThreshold?.({ ...accountOf(quirks), baseUrl }, model)).toBe(least)
  })
})

describe('what comes of it', () => {
  test('is an item in front of the rest, whether streamed or whole', () => {
    const events = decoded(answerOf(STREAMED, HI))
    expectOrdered(events)
    const items = itemsOf(events)
    expect(items).toHaveLength(2)
    expect(Object.keys((items[0] as { raw: object }).raw)).toEqual(['type', 'encrypted_content'])
    const body = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [BLOCK, { type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
    }
    expect(itemsOf(anthropic.decodeBody(body, accountOf()))).toEqual(items)
  })

  test('goes back byte for byte, also from a client that has given it an id', () => {
    const [item, answer] = itemsOf(decoded(answerOf(STREAMED, HI)))
    if (item?.type !== 'opaque' || answer === undefined) throw new Error('There is none.')
    const brought: Item = { ...item, raw: { id: 'cmp_1', ...item.raw } }
    for (const one of [item, brought]) {
      const { body, headers, why } = encode([system('Be brief.'), one, answer, user('And?')])
      expect(JSON.stringify(body['messages'])).toContain(JSON.stringify(BLOCK))
      expect((body['messages'] as JsonObject[])[0]).toMatchObject({ role: 'assistant' })
      // It has to be named, but is not to be done again.
      expect(body['context_management']).toEqual(editAt(100_000_000))
      expect(headers).toEqual({ 'anthropic-beta': 'compact-2026-01-12' })
      expect(why).toEqual(['compaction-named'])
      expect(anthropicComplaints(body)).toEqual([])
    }
  })

  test('is understood in the words of the API as well', () => {
    const item: Item = { type: 'opaque', raw: { id: 'cmp_1', ...BLOCK } }
    const { body } = encode([item, assistant('Hi'), user('And?')])
    expect(JSON.stringify(body['messages'])).toContain(JSON.stringify(BLOCK))
  })

  test('is whole, in however many pieces its fields come', () => {
    const { content, encrypted_content } = BLOCK
    const pieces = block(
      { type: 'compaction', content: null },
      { type: 'compaction_delta', content: content.slice(0, 5) },
      { type: 'compaction_delta', content: content.slice(5) },
      { type: 'compaction_delta', encrypted_content },
    )
    expect(itemsOf(decoded(answerOf(pieces, HI)))).toEqual(itemsOf(decoded(answerOf(STREAMED, HI))))
  })

  test.each([
    ['that failed', block({ type: 'compaction', content: null })],
    [
      'that failed in the end',
      block({ type: 'compaction', content: 'So' }, { type: 'compaction_delta', content: null }),
    ],
    ['with nothing in it', block({ type: 'compaction', content: '' })],
  ])('C52: is nothing of one %s', (_, failed) => {
    const events = decoded(answerOf(failed, HI))
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([assistant('Hi')])
  })

  test('is nothing of one that broke off', () => {
    const events = decoded(answerOf(STREAMED.slice(0, -1)).slice(0, 3))
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([])
  })
})

test.each(['anthropic:compaction:%%', 'anthropic:compaction:e30=', 'gAAAAA'])(
  'what is no compaction of its own is left out (%s)',
  (encrypted_content) => {
    const item: Item = { type: 'opaque', raw: { type: 'compaction', encrypted_content } }
    const { body, why } = encode([user('Hi'), item])
    expect(JSON.stringify(body)).not.toContain('compaction')
    expect(why).toEqual(['item-of-another-provider'])
  },
)
