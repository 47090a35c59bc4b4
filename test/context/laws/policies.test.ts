/** What the presets come to, over a conversation as it grows by one item after the other. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { isUserMessage, findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { resolvePolicy, type PolicyOverrides } from '../../../src/core/context-policy.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { expectSteady } from '../../support/laws.ts'
import { talk } from '../../support/talk.ts'

const planned = (wishes: PolicyOverrides) => {
  const plan = listTransforms({ policy: resolvePolicy([wishes]), reader: null })
  return (items: readonly Item[]) => runTransforms(items, plan)
}

const TURNS = 24
const conversation = Array.from({ length: TURNS }).flatMap(
  (_, turn) => talk`
    user: question ${String(turn)}
    sealed: first ${String(turn)}
    call ${String(turn)} look
    output ${String(turn)} ${`${turn} found `.repeat(1000)}
    sealed: second ${String(turn)}
    call b${String(turn)} look
    output b${String(turn)} ${`${turn} more `.repeat(1000)}
    sealed: third ${String(turn)}
    assistant: answer ${String(turn)}
  `,
)

/** Where a model is asked: behind each question, and behind each output. */
const requests = conversation.flatMap((item, at) =>
  isUserMessage(item) || item.type === 'function_call_output'
    ? [conversation.slice(0, at + 1)]
    : [],
)

/** How many requests do not begin with all of the one before. */
function breaks(run: ReturnType<typeof planned>): readonly number[] {
  return requests.flatMap((items, at) => {
    const before = run(requests[at - 1] ?? []).items
    try {
      expectSteady(before, run(items).items)
      return []
    } catch {
      return [findRoundStarts(items).length - 1]
    }
  })
}

const outputsIn = (items: readonly Item[]) =>
  items.flatMap((item) =>
    item.type === 'function_call_output' && typeof item.output === 'string'
      ? [item.output.length]
      : [],
  )

describe('replay', () => {
  test('sends everything, always, as the very same list', () => {
    expect(planned({ policy: 'replay' })(conversation).items).toBe(conversation)
  })
})

describe('retain (C14, C15)', () => {
  const run = planned({ policy: 'retain' })

  test('outputs that are more than five turns old are short, in steps of ten turns (C34)', () => {
    expect(breaks(run)).toEqual([15])
    const lengths = outputsIn(run(conversation).items)
    expect(lengths.map((length) => length > 1000)).toEqual(
      Array.from({ length: 2 * TURNS }, (_, at) => at >= 20),
    )
  })

  test('reasoning stays', () => {
    const { items } = run(conversation)
    expect(items.filter(({ type }) => type === 'reasoning')).toHaveLength(3 * TURNS)
  })
})

describe('lean', () => {
  const run = planned({ policy: 'lean' })

  test('the running turn is whole, and closed turns have short outputs and no reasoning', () => {
    const items = conversation.slice(0, -1)
    const start = findRoundStarts(items).at(-1) ?? 0
    const { items: left } = run(items)
    const open = left.slice(left.findLastIndex(isUserMessage))
    expect(open).toEqual(items.slice(start, -1))
    const closed = left.slice(0, left.findLastIndex(isUserMessage))
    expect(closed.some(({ type }) => type === 'reasoning')).toBe(false)
    expect(Math.max(...outputsIn(closed))).toBeLessThan(500)
  })

  test('a turn is trimmed once and for ever, when it closes', () => {
    // Only where a turn begins, and then no further back than the turn that has closed.
    expect(breaks(run)).toEqual(Array.from({ length: TURNS - 1 }, (_, at) => at + 1))
    for (const [at, items] of requests.entries()) {
      const before = requests[at - 1] ?? []
      const closed = run(before).items
      expectSteady(closed.slice(0, closed.findLastIndex(isUserMessage) + 1), run(items).items)
    }
  })
})

describe('capped', () => {
  const run = planned({ policy: 'capped' })

  test('outputs are cut when they are first seen, and no request ever breaks the prefix', () => {
    expect(breaks(run)).toEqual([])
    const lengths = outputsIn(run(conversation).items)
    expect(Math.min(...lengths)).toBeGreaterThan(3900)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(4000)
  })

  test('reasoning stays', () => {
    const { items } = run(conversation)
    expect(items.filter(({ type }) => type === 'reasoning')).toHaveLength(3 * TURNS)
  })
})

describe('a window on any of them (C34)', () => {
  test.each([
    [{ turns: 8 }, 8],
    [{ items: 72 }, 8],
    [{ tokens: 40_000 }, 9],
  ])('%j moves in steps', (window, most) => {
    for (const policy of ['replay', 'capped'] as const) {
      const run = planned({ policy, window })
      const moved = breaks(run)
      expect(new Set(moved).size).toBe(moved.length)
      expect(moved.length).toBeLessThanOrEqual(TURNS / 3)
      const left = findRoundStarts(run(conversation).items).length
      expect(left).toBeLessThanOrEqual(policy === 'capped' && 'tokens' in window ? TURNS : most)
      expect(left).toBeGreaterThan(most / 2 - 1)
    }
  })
})
