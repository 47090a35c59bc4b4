import { describe, expect, test } from 'vitest'
import { textOf, type Item } from '../../src/core/item.ts'
import { listMedia } from '../../src/core/media/media-handles.ts'
import { findRoundStarts } from '../../src/core/items/rounds-and-pinned-items.ts'
import {
  generateConversation,
  DEFAULT_ROUND_COUNT,
} from '../../src/simulate/generate-conversation.ts'
import type { ConversationScript } from '../../src/simulate/conversation-script.ts'

const SEEDS = Array.from({ length: 20 }, (_, seed) => seed)
const all = SEEDS.map((seed) => generateConversation(seed))

function itemsOf({ exchanges }: ConversationScript): readonly Item[] {
  return exchanges.flatMap(({ newItems, answer }) => [...newItems, ...answer])
}

function textIn(item: Item): string {
  switch (item.type) {
    case 'message':
      return textOf(item.content)
    case 'function_call':
      return item.arguments
    case 'function_call_output':
      return textOf(item.output)
    case 'reasoning':
      return item.encrypted_content ?? ''
    default:
      throw new Error(`There is no ${item.type} in it.`)
  }
}

function charsOf(type: Item['type'], role?: string): readonly number[] {
  return all
    .flatMap(itemsOf)
    .filter((item) => item.type === type && (role === undefined || 'role' in item))
    .filter((item) => item.type !== 'message' || item.role === role)
    .map((item) => textIn(item).length)
}

describe('conversations that are generated for the simulation', () => {
  test('the same seed generates the same conversation, and another seed another one', () => {
    expect(generateConversation(7)).toEqual(generateConversation(7))
    expect(textIn(itemsOf(generateConversation(7))[1] as Item)).not.toBe(
      textIn(itemsOf(generateConversation(8))[1] as Item),
    )
  })

  test('a generated conversation has 60 rounds after its instructions', () => {
    for (const script of all) {
      const items = itemsOf(script)
      expect(findRoundStarts(items)).toHaveLength(DEFAULT_ROUND_COUNT)
      expect(items[0]).toMatchObject({ type: 'message', role: 'system' })
    }
  })

  test('a generated conversation has up to 3 tool calls per round, 1.4 on average', () => {
    const outputs = charsOf('function_call_output').length
    expect(outputs / (DEFAULT_ROUND_COUNT * all.length)).toBeCloseTo(1.4, 1)
    for (const script of all) {
      const questions = script.exchanges.map(({ newItems }) => newItems.at(-1)?.type === 'message')
      // One request per tool call and one for the answer: at most 4 per turn.
      const starts = questions.flatMap((isQuestion, at) => (isQuestion ? [at] : []))
      const ends = [...starts.slice(1), questions.length]
      const requests = starts.map((start, at) => (ends[at] ?? 0) - start)
      expect(Math.min(...requests)).toBe(1)
      expect(Math.max(...requests)).toBe(4)
    }
  })

  test('each round of a generated conversation ends with reasoning and a text answer', () => {
    for (const { exchanges } of all) {
      const answers = exchanges.map(({ answer }) => answer.map(({ type }) => type).join())
      expect(new Set(answers)).toEqual(new Set(['reasoning,function_call', 'reasoning,message']))
      expect(answers.filter((answer) => answer.endsWith('message'))).toHaveLength(
        DEFAULT_ROUND_COUNT,
      )
    }
  })

  test('the items of a generated conversation have the configured numbers of characters', () => {
    expect(new Set(charsOf('message', 'system'))).toEqual(new Set([6000]))
    expect(new Set(charsOf('message', 'user'))).toEqual(new Set([300]))
    expect(new Set(charsOf('message', 'assistant'))).toEqual(new Set([1200]))
    expect(new Set(charsOf('reasoning'))).toEqual(new Set([1500]))
    for (const chars of charsOf('function_call')) expect(Math.abs(chars - 200)).toBeLessThan(30)
  })

  test('generated tool outputs have a lognormal length with a median of about 5,400 characters', () => {
    const lengths = charsOf('function_call_output').toSorted((a, b) => a - b)
    const at = (share: number) => lengths[Math.floor(lengths.length * share)] ?? 0
    expect(at(0.5)).toBeGreaterThan(4900)
    expect(at(0.5)).toBeLessThan(6000)
    // One standard deviation on each side.
    expect(at(0.841) / at(0.5)).toBeCloseTo(Math.E, 0)
    expect(at(0.5) / at(0.159)).toBeCloseTo(Math.E, 0)
    expect(lengths.at(-1)).toBe(60_000)
  })

  test('a generated conversation has the same texts with images as without, and one image per question on average', () => {
    const shown = SEEDS.flatMap((seed) => {
      const items = itemsOf(generateConversation(seed, { hasImages: true }))
      const bare = itemsOf(generateConversation(seed))
      expect(items.map(textIn)).toEqual(bare.map(textIn))
      return listMedia(items)
    })
    expect(shown.length / (DEFAULT_ROUND_COUNT * SEEDS.length)).toBeCloseTo(1, 1)
    const all = new Set(shown.map(({ identity }) => identity))
    expect(all.size / shown.length).toBeGreaterThan(0.85)
    expect(all.size / shown.length).toBeLessThan(0.95)
    for (const image of all) expect(Math.abs(image.length - 4000)).toBeLessThan(50)
  })

  test('a generated chat has only questions and answers of the requested length', () => {
    const items = itemsOf(generateConversation(1, { isChat: true, textLengthFactor: 4, rounds: 3 }))
    expect(items.map(({ type }) => type)).not.toContain('function_call')
    expect(
      items
        .filter(({ type }) => type === 'message')
        .map(textIn)
        .map(({ length }) => length),
    ).toEqual([6000, ...Array.from({ length: 3 }).flatMap(() => [1200, 4800])])
  })

  test('a conversation generated for the simulation contains no text twice', () => {
    for (const script of all) {
      const texts = itemsOf(script).map(textIn)
      expect(new Set(texts).size).toBe(texts.length)
    }
  })
})
