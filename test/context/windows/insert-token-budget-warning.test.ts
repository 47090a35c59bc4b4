import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Origin } from '../../../src/core/item.ts'
import {
  countAnswersSinceWarning,
  insertTokenBudgetWarning,
} from '../../../src/context/windows/insert-token-budget-warning.ts'
import { show, talk } from '../../support/talk.ts'

const origins: readonly Origin[] = Array.from({ length: 6 }, (_, at) => ({
  wire: 'chat',
  account: 'a',
  model: `step ${at}`,
  prefixHash: null,
}))

/** A question, and tool rounds that each fill another tenth of the window. */
function toolLoop(steps: number): readonly Item[] {
  const made = Array.from({ length: steps }, (_, at) =>
    talk`
    call ${`c${at}`} look
    output ${`c${at}`} fog
  `.map((item): Item => {
      const origin = origins[at]
      return item.type === 'function_call' && origin !== undefined ? { ...item, origin } : item
    }),
  )
  return [...talk`user: Go.`, ...made.flat()]
}

const COMPACTION: Item = {
  type: 'opaque',
  raw: { type: 'compaction', encrypted_content: 'gAAAA' },
}

const options = (warnAt: number) => ({
  contextWindow: 1000,
  warnAt,
  countTokens: (origin: Origin) => (origins.indexOf(origin) + 1) * 100,
})
const addWarning = (items: readonly Item[], warnAt = 0.3) =>
  insertTokenBudgetWarning(options(warnAt)).run(items)
const isWarning = (item: Item) => item.native?.['backstory']?.['warning'] === true

describe('the warning near the token limit (C61)', () => {
  test('the token warning comes once, after the answer that reached the configured share', () => {
    const { items, notes } = addWarning(toolLoop(5))
    expect(items.filter(isWarning)).toHaveLength(1)
    expect(items.findIndex(isWarning)).toBe(toolLoop(3).length)
    expect(show(items)).toContain('filled 30 %')
    expect(notes).toEqual([{ did: 'added', why: 'budget-warned' }])
  })

  test("there is no token warning while the provider's token count is unknown or below the configured share", () => {
    const items = toolLoop(2)
    expect(addWarning(items).items).toBe(items)
    const uncounted = { ...options(0.3), countTokens: () => null }
    const many = toolLoop(5)
    expect(insertTokenBudgetWarning(uncounted).run(many).items).toBe(many)
  })

  test('the token warning ignores the count of an answer in which the upstream compacted the conversation', () => {
    const [third] = origins.slice(2)
    const items = toolLoop(5).flatMap((item): readonly Item[] =>
      third !== undefined && item.origin === third
        ? [{ ...COMPACTION, origin: third }, item]
        : [item],
    )
    // The round after the compaction reaches the share.
    expect(addWarning(items).items.findIndex(isWarning)).toBe(toolLoop(4).length + 1)
  })

  test('the token warning is not sent in the next round', () => {
    const items = [...toolLoop(5), ...talk`assistant: Done.`, ...talk`user: Thanks.`]
    expect(addWarning(items).items).toBe(items)
  })

  test("the model's answers since the token warning are counted, one for each tool round", () => {
    expect(
      [2, 3, 4, 6].map((steps) => countAnswersSinceWarning(toolLoop(steps), options(0.3))),
    ).toEqual([null, 0, 1, 3])
  })

  test('the token warning keeps its position when another tool round follows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5 }),
        fc.double({ min: 0.05, max: 0.9, noNaN: true }),
        (steps, warnAt) => {
          const before = addWarning(toolLoop(steps), warnAt).items
          const after = addWarning(toolLoop(steps + 1), warnAt).items
          expect(after.slice(0, before.length)).toEqual(before)
          expect(addWarning(after, warnAt).items).toBe(after)
        },
      ),
    )
  })
})
