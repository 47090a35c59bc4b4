/** Checks the presets with a conversation that grows item by item. */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { isUserMessage, findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { resolvePolicy, type PolicyOverrides } from '../../../src/core/context-policy.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { expectUnchangedPrefix } from '../../support/laws.ts'
import { talk } from '../../support/talk.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

const applyPolicy = (overrides: PolicyOverrides) => {
  const plan = listTransforms({
    policy: resolvePolicy([CUTS_AT_ANY_LENGTH, overrides]),
    reader: null,
  })
  return (items: readonly Item[]) => runTransforms(items, plan)
}

const TURNS = 24
const conversation = Array.from({ length: TURNS }).flatMap(
  (_, turn) => talk`
    user: question ${String(turn)}
    sealed: first ${`${turn} why `.repeat(100)}
    call ${String(turn)} look
    output ${String(turn)} ${`${turn} found `.repeat(1000)}
    sealed: second ${`${turn} why `.repeat(100)}
    call b${String(turn)} look
    output b${String(turn)} ${`${turn} more `.repeat(1000)}
    sealed: third ${`${turn} why `.repeat(100)}
    assistant: answer ${String(turn)}
  `,
)

/** The lengths at which a request is sent: after each question and each output. */
const listRequests = conversation.flatMap((item, at) =>
  isUserMessage(item) || item.type === 'function_call_output'
    ? [conversation.slice(0, at + 1)]
    : [],
)

/** Counts the requests that do not begin with the complete previous one. */
function countPrefixBreaks(run: ReturnType<typeof applyPolicy>): readonly number[] {
  return listRequests.flatMap((items, at) => {
    const before = run(listRequests[at - 1] ?? []).items
    try {
      expectUnchangedPrefix(before, run(items).items)
      return []
    } catch {
      return [findRoundStarts(items).length - 1]
    }
  })
}

const listOutputLengths = (items: readonly Item[]) =>
  items.flatMap((item) =>
    item.type === 'function_call_output' && typeof item.output === 'string'
      ? [item.output.length]
      : [],
  )

describe('the policy `replay`', () => {
  test('the policy `replay` sends the list unchanged', () => {
    expect(applyPolicy({ policy: 'replay' })(conversation).items).toBe(conversation)
  })
})

describe('the policy `retain` (C14, C15)', () => {
  const run = applyPolicy({ policy: 'retain' })

  test('the policy `retain` shortens the outputs of a round once, when the next question comes', () => {
    expect(countPrefixBreaks(run)).toEqual(Array.from({ length: TURNS - 1 }, (_, at) => at + 1))
    const lengths = listOutputLengths(run(conversation).items)
    expect(lengths.map((length) => length > 1000)).toEqual(
      Array.from({ length: 2 * TURNS }, (_, at) => at >= 2 * TURNS - 2),
    )
  })

  test('the policy `retain` keeps all reasoning', () => {
    const { items } = run(conversation)
    expect(items.filter(({ type }) => type === 'reasoning')).toHaveLength(3 * TURNS)
  })
})

describe('the policy `lean`', () => {
  const run = applyPolicy({ policy: 'lean' })

  test('the policy `lean` sends the current round complete, and finished rounds with short outputs and no reasoning', () => {
    const items = conversation.slice(0, -1)
    const start = findRoundStarts(items).at(-1) ?? 0
    const { items: left } = run(items)
    const open = left.slice(left.findLastIndex(isUserMessage))
    expect(open).toEqual(items.slice(start, -1))
    const closed = left.slice(0, left.findLastIndex(isUserMessage))
    expect(closed.some(({ type }) => type === 'reasoning')).toBe(false)
    expect(Math.max(...listOutputLengths(closed))).toBeLessThan(500)
  })

  test('the policy `lean` shortens the outputs of a round once, when the next question comes', () => {
    // Changes come only at the start of a turn, and only in the turn that has just finished.
    expect(countPrefixBreaks(run)).toEqual(Array.from({ length: TURNS - 1 }, (_, at) => at + 1))
    for (const [at, items] of listRequests.entries()) {
      const before = listRequests[at - 1] ?? []
      const closed = run(before).items
      expectUnchangedPrefix(
        closed.slice(0, closed.findLastIndex(isUserMessage) + 1),
        run(items).items,
      )
    }
  })
})

describe('the policy `capped`', () => {
  const run = applyPolicy({ policy: 'capped' })

  test('the policy `capped` caps outputs when they are first sent, and sends earlier items unchanged', () => {
    expect(countPrefixBreaks(run)).toEqual([])
    const lengths = listOutputLengths(run(conversation).items)
    expect(Math.min(...lengths)).toBeGreaterThan(3900)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(4000)
  })

  test('the policy `capped` keeps all reasoning', () => {
    const { items } = run(conversation)
    expect(items.filter(({ type }) => type === 'reasoning')).toHaveLength(3 * TURNS)
  })
})

describe('a window on any policy (C34)', () => {
  test.each([
    [{ turns: 8 }, 8],
    [{ items: 72 }, 8],
    [{ tokens: 40_000 }, 7],
  ])(
    'the window %j moves in steps and keeps at least half of the rounds that it allows',
    (window, most) => {
      for (const policy of ['replay', 'capped'] as const) {
        const run = applyPolicy({ policy, window })
        const moved = countPrefixBreaks(run)
        expect(new Set(moved).size).toBe(moved.length)
        expect(moved.length).toBeLessThanOrEqual(TURNS / 3)
        const left = findRoundStarts(run(conversation).items).length
        expect(left).toBeLessThanOrEqual(policy === 'capped' && 'tokens' in window ? TURNS : most)
        expect(left).toBeGreaterThan(most / 2 - 1)
      }
    },
  )
})
