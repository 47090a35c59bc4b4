/**
 * Tests compaction by the API: how it is requested, decoded into an item, and sent back unchanged.
 */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Prompt } from '../../../src/core/prompt.ts'
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts'
import { findAnthropicFaults } from '../../support/anthropic-laws.ts'
import {
  accountOf,
  createAnswer,
  assistant,
  block,
  decode,
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
const STREAMED_BLOCK = block(
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
  return { body, headers: sent, codes: notes.map(({ why }) => why) }
}

const contextManagement = (value: number) => ({
  edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value } }],
})

describe('compaction requests to the Anthropic API', () => {
  test('a compaction request to Anthropic has the threshold and the beta header', () => {
    const { body, headers, codes } = encode([user('Hi')], { compactAbove: 60_000 })
    expect(body['context_management']).toEqual(contextManagement(60_000))
    expect(headers).toEqual({ 'anthropic-beta': 'compact-2026-01-12' })
    expect(codes).toEqual(['compaction-asked'])
    expect(findAnthropicFaults(body)).toEqual([])
  })

  test("the compaction beta is added to the betas in the account's header, unless it is already there", () => {
    const headersWith = (headers: object) =>
      encode([user('Hi')], { compactAbove: 60_000 }, headers).headers
    expect(headersWith({ 'Anthropic-Beta': 'a-1,b-2' })).toEqual({
      'Anthropic-Beta': 'a-1,b-2,compact-2026-01-12',
    })
    expect(headersWith({ 'anthropic-beta': 'a-1, compact-2026-01-12' })).toEqual({})
  })

  test('no compaction is requested from Anthropic without a threshold', () => {
    const { body, headers, codes } = encode([user('Hi')])
    expect([body['context_management'], headers, codes]).toEqual([undefined, undefined, []])
  })

  test.each([
    ['https://api.anthropic.com/v1', MODEL, {}, 50_000],
    ['https://api.anthropic.com/v1', 'claude-sonnet-4-5', {}, null],
    ['https://api.anthropic.com/v1', MODEL, { compact: false }, null],
    ['https://claude.example.com/v1', MODEL, {}, null],
    ['https://claude.example.com/v1', MODEL, { compact: true }, 50_000],
    ['https://other.example.com/v1', 'glm-5', { compact: true }, 50_000],
    ['https://claude.example.com/v1', 'claude-3-5-haiku', { compact: true }, null],
  ])(
    'the minimum compaction threshold at %s of the model %s with the quirks %j is %s',
    (baseUrl, model, quirks, threshold) => {
      expect(anthropic.getMinCompactionTokens?.({ ...accountOf(quirks), baseUrl }, model)).toBe(
        threshold,
      )
    },
  )
})

describe('Anthropic compaction blocks', () => {
  test('an Anthropic compaction block is decoded into an item before the message, streamed or not', () => {
    const events = decode(createAnswer(STREAMED_BLOCK, HI))
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

  test('a stored compaction block is sent back to Anthropic byte for byte, even if a client added an id', () => {
    const [item, answer] = itemsOf(decode(createAnswer(STREAMED_BLOCK, HI)))
    if (item?.type !== 'opaque' || answer === undefined) throw new Error('There is none.')
    const itemWithId: Item = { ...item, raw: { id: 'cmp_1', ...item.raw } }
    for (const sentItem of [item, itemWithId]) {
      const { body, headers, codes } = encode([system('Be brief.'), sentItem, answer, user('And?')])
      expect(JSON.stringify(body['messages'])).toContain(JSON.stringify(BLOCK))
      expect((body['messages'] as JsonObject[])[0]).toMatchObject({ role: 'assistant' })
      // The request must name compaction, but with a threshold that never triggers it.
      expect(body['context_management']).toEqual(contextManagement(100_000_000))
      expect(headers).toEqual({ 'anthropic-beta': 'compact-2026-01-12' })
      expect(codes).toEqual(['compaction-named'])
      expect(findAnthropicFaults(body)).toEqual([])
    }
  })

  test("a client can send a compaction block in Anthropic's own format", () => {
    const item: Item = { type: 'opaque', raw: { id: 'cmp_1', ...BLOCK } }
    const { body } = encode([item, assistant('Hi'), user('And?')])
    expect(JSON.stringify(body['messages'])).toContain(JSON.stringify(BLOCK))
  })

  test('a compaction block streamed in several deltas gives the same item as one in a single delta', () => {
    const { content, encrypted_content } = BLOCK
    const pieces = block(
      { type: 'compaction', content: null },
      { type: 'compaction_delta', content: content.slice(0, 5) },
      { type: 'compaction_delta', content: content.slice(5) },
      { type: 'compaction_delta', encrypted_content },
    )
    expect(itemsOf(decode(createAnswer(pieces, HI)))).toEqual(
      itemsOf(decode(createAnswer(STREAMED_BLOCK, HI))),
    )
  })

  test.each([
    ['failed', block({ type: 'compaction', content: null })],
    [
      'failed at its end',
      block({ type: 'compaction', content: 'So' }, { type: 'compaction_delta', content: null }),
    ],
    ['is empty', block({ type: 'compaction', content: '' })],
  ])('C52: an Anthropic compaction block is not decoded into an item if it %s', (_, failed) => {
    const events = decode(createAnswer(failed, HI))
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([assistant('Hi')])
  })

  test('an Anthropic compaction block is not decoded into an item if the stream breaks off', () => {
    const events = decode(createAnswer(STREAMED_BLOCK.slice(0, -1)).slice(0, 3))
    expectOrdered(events)
    expect(itemsOf(events)).toEqual([])
  })
})

test.each(['anthropic:compaction:%%', 'anthropic:compaction:e30=', 'gAAAAA'])(
  'a compaction with the encrypted content %s, which is no Anthropic block, is not sent to Anthropic',
  (encrypted_content) => {
    const item: Item = { type: 'opaque', raw: { type: 'compaction', encrypted_content } }
    const { body, codes } = encode([user('Hi'), item])
    expect(JSON.stringify(body)).not.toContain('compaction')
    expect(codes).toEqual(['item-of-another-provider'])
  },
)
