import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { estimateItemTokens } from '../../../src/core/items/item-tokens.ts'
import { trimLongRounds } from '../../../src/context/windows/trim-long-rounds.ts'
import { show, talk } from '../../support/talk.ts'
import { expectLinear } from '../../support/count-reads.ts'

/** Numbered calls, each with its output. */
function toolCalls(count: number, from = 0): readonly Item[] {
  return Array.from({ length: count }).flatMap(
    (_, at) => talk`
      call ${String(from + at)}
      output ${String(from + at)} done
    `,
  )
}

test('a round that is too long loses its oldest calls and outputs, and keeps its question (C29)', () => {
  const items = [...talk`system: be brief`, ...talk`user: go`, ...toolCalls(100)]
  const step = trimLongRounds({ unit: 'items', maxWeight: 16 }).run(items)
  expect(show(step.items.slice(0, 3))).toBe('system: be brief\nuser: go\ncall 96')
  expect(step.items.at(-1)).toBe(items.at(-1))
  expect(step.items.length).toBeLessThanOrEqual(17)
  expect(step.notes).toHaveLength(items.length - step.items.length)
  expect(step.notes[0]).toEqual({ did: 'dropped', at: 2, why: 'windowed' })
})

test('a round within the limit is not trimmed', () => {
  const items = toolCalls(8)
  expect(trimLongRounds({ unit: 'items', maxWeight: 16 }).run(items).items).toBe(items)
})

test('trimming a round keeps the last assistant message, with the reasoning before it', () => {
  const items = [
    ...talk`
      user: go
      assistant: first
      sealed: a
      assistant: second
    `,
    ...toolCalls(20),
  ]
  const step = trimLongRounds({ unit: 'items', maxWeight: 16 }).run(items)
  expect(show(step.items.slice(0, 4))).toBe('user: go\nsealed: a\nassistant: second\ncall 14')
})

test('an older round that is too long is trimmed, and the latest question stays', () => {
  const items = [
    ...talk`user: go`,
    ...toolCalls(100),
    ...talk`
      assistant: done
      user: thanks
    `,
  ]
  const { items: kept } = trimLongRounds({ unit: 'items', maxWeight: 16 }).run(items)
  expect(show(kept.slice(0, 2))).toBe('user: go\ncall 96')
  expect(show(kept.slice(-2))).toBe('assistant: done\nuser: thanks')
})

test('trimming separates no call from its output, even if both exceed the limit', () => {
  const batch = [
    ...talk`
      user: go
      sealed: a
    `,
    ...Array.from({ length: 30 }).flatMap((_, at) => talk`call ${String(at)}`),
    ...Array.from({ length: 30 }).flatMap((_, at) => talk`output ${String(at)} done`),
  ]
  expect(trimLongRounds({ unit: 'items', maxWeight: 16 }).run(batch).items).toBe(batch)
})

test('trimming keeps a call together with the text and reasoning before it', () => {
  const step = talk`
    sealed: a
    assistant: I am looking
    call a
    output a
  `
  const items = [
    ...talk`user: go`,
    ...Array.from({ length: 30 }).flatMap(() => step.map((item) => ({ ...item }))),
  ]
  for (let maxItems = 16; maxItems < 24; maxItems += 1) {
    const kept = trimLongRounds({ unit: 'items', maxWeight: maxItems }).run(items).items
    // The question, the last assistant message before the cut, and complete tool rounds stay.
    expect(show(kept.slice(0, 4))).toBe('user: go\nsealed: a\nassistant: I am looking\nsealed: a')
  }
})

test('the cut in a long round moves by half the limit at a time', () => {
  const firsts: string[] = []
  for (let count = 33; count <= 100; count += 1) {
    const items = [...talk`user: go`, ...toolCalls(count)]
    const kept = trimLongRounds({ unit: 'items', maxWeight: 64 }).run(items).items
    const first = show(kept.slice(1, 2))
    if (firsts.at(-1) !== first) firsts.push(first)
  }
  expect(firsts).toEqual(['call 16', 'call 32', 'call 48', 'call 64', 'call 80'])
})

test('a limit of tokens trims a long round like a limit of items, and keeps the question', () => {
  const long = Array.from({ length: 50 }).flatMap(
    (_, at) => talk`
      call ${String(at)}
      output ${String(at)} ${'x'.repeat(400)}
    `,
  )
  const items = [...talk`user: go`, ...long]
  const { items: kept } = trimLongRounds({ unit: 'tokens', maxWeight: 2000 }).run(items)
  expect(show(kept.slice(0, 1))).toBe('user: go')
  expect(kept.at(-1)).toBe(items.at(-1))
  const tokens = kept.reduce((sum, item) => sum + estimateItemTokens(item), 0)
  expect(tokens).toBeLessThanOrEqual(2000)
  expect(tokens).toBeGreaterThan(500)
})

test('trimming a long round takes linear time, even if no cut leaves few enough items', () => {
  const questions = Array.from({ length: 40 }).flatMap(() => talk`user: and`)
  const { run } = trimLongRounds({ unit: 'items', maxWeight: 4 })
  const items = [...questions, ...toolCalls(25_000)]
  expect(run(items).items).toEqual([...questions, ...items.slice(-2)])
  expectLinear(1000, (count) => [...questions, ...toolCalls(count)], run)
})
