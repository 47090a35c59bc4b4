import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateItemTokens } from '../../../src/core/items/item-tokens.ts'
import type { Item } from '../../../src/core/item.ts'
import { resolvePolicy, type PolicyOverrides } from '../../../src/core/context-policy.ts'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import {
  fitTokenBudget,
  createTokenBudgetOptions,
} from '../../../src/context/windows/fit-token-budget.ts'
import { createAlwaysSentGroupPredicate } from '../../../src/context/always-sent-items.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { planTokenBudget } from '../../../src/context/windows/plan-token-budget.ts'
import { show, talk } from '../../support/talk.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

describe('dropping rounds to fit a token budget', () => {
  const long = 'x'.repeat(400)
  const items = talk`
    system: be brief
    user: one ${long}
    assistant: 1
    user: two ${long}
    call a look
    output a ${long}
    assistant: 2
    user: three
  `
  const all = items.reduce((sum, item) => sum + estimateItemTokens(item), 0)
  const run = (most: number) =>
    fitTokenBudget({ maxTokens: most, policy: resolvePolicy([CUTS_AT_ANY_LENGTH]) }).run(items)

  test('a list that fits the token budget with its instructions stays the same', () => {
    expect(run(all).items).toBe(items)
  })

  test('the oldest complete rounds are dropped until the rest fits the token budget', () => {
    const { items: left, notes } = run(all - 1)
    expect(show(left)).not.toContain('user: one')
    expect(show(left)).toContain('user: two')
    expect(notes.map(({ at, why }) => `${at} ${why}`)).toEqual(['1 over-window', '2 over-window'])
  })

  test('instructions and the latest question stay even if they exceed the token budget', () => {
    expect(show(run(1).items)).toBe('system: be brief\nuser: three')
  })
})

/** The lengths of a turn's question, outputs and answer. */
interface Turn {
  readonly words: number
  readonly outputs: readonly number[]
  readonly picture: boolean
}

const turn = fc.record({
  words: fc.integer({ min: 1, max: 120 }),
  outputs: fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 3 }),
  picture: fc.boolean(),
})

function itemsOf(turns: readonly Turn[]): readonly Item[] {
  return turns.flatMap(({ words, outputs, picture }, at): readonly Item[] => {
    const text = `question ${at} ${'word '.repeat(words)}`
    const image = { type: 'input_image' as const, image_url: `https://a.example/${at}.png` }
    return [
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text }, ...(picture ? [image] : [])],
      },
      ...outputs.flatMap(
        (many, call) => talk`
          call ${`${at}_${call}`} look
          output ${`${at}_${call}`} ${'fog '.repeat(many)}
        `,
      ),
      ...talk`assistant: answer ${String(at)} ${'word '.repeat(words)}`,
    ]
  })
}

const POLICIES: readonly PolicyOverrides[] = [
  { policy: 'replay' },
  { policy: 'retain' },
  { policy: 'lean' },
  { policy: 'retain', outputs: { keepTurns: 1, step: 2 }, media: { images: 2 } },
]

/** The plans for requests after each item. */
function computePlans(items: readonly Item[], overrides: PolicyOverrides, most: number) {
  const room = createTokenBudgetOptions({
    maxTokens: most,
    policy: resolvePolicy([CUTS_AT_ANY_LENGTH, overrides]),
  })
  return items.map((_, at) => {
    const said = items.slice(0, at + 1)
    return planTokenBudget(said, createAlwaysSentGroupPredicate(said), room)
  })
}

const anyConversation = fc.record({
  overrides: fc.constantFrom(...POLICIES),
  most: fc.integer({ min: 2200, max: 9000 }),
  items: fc.array(turn, { minLength: 10, maxLength: 40 }).map(itemsOf),
})

const RUNS = { numRuns: 25 }

describe('a token budget in a growing conversation', () => {
  test('an item that was dropped or shortened to fit a token budget stays so when the conversation grows', () => {
    fc.assert(
      fc.property(anyConversation, ({ overrides, most, items }) => {
        const starts = new Set([0, ...findRoundStarts(items)])
        const plans = computePlans(items, overrides, most)
        for (const [at, { dropBefore, shortenBefore, isCapped }] of plans.entries()) {
          const before = plans[at - 1] ?? {
            dropBefore: 0,
            shortenBefore: 0,
            isCapped: new Uint8Array(),
          }
          expect([dropBefore >= before.dropBefore, shortenBefore >= before.shortenBefore]).toEqual([
            true,
            true,
          ])
          expect([starts.has(dropBefore), starts.has(shortenBefore)]).toEqual([true, true])
          const isUndone = before.isCapped.some(
            (was, place) => place < at && was > (isCapped[place] ?? 0),
          )
          expect(isUndone).toBe(false)
        }
      }),
      RUNS,
    )
  })

  test('the cut of a token budget moves at most once for each sixteenth of the budget by which the conversation grows', () => {
    fc.assert(
      fc.property(anyConversation, ({ overrides, most, items }) => {
        const plans = computePlans(items, overrides, most)
        const steps = (field: 'dropBefore' | 'shortenBefore') =>
          new Set(plans.map((plan) => plan[field])).size - 1
        // The latest turns may fill the limit alone, so that all earlier ones are dropped.
        const needed = plans.filter(({ dropBefore }, at) => {
          return (
            dropBefore !== plans[at - 1]?.dropBefore &&
            dropBefore === findRoundStarts(items.slice(0, at + 1)).at(-1)
          )
        })
        const said = items.reduce((sum, item) => sum + estimateItemTokens(item), 0)
        // A step is the power of two below an eighth, so it is more than a sixteenth.
        const sixteenths = said / (most / 16)
        expect(steps('shortenBefore')).toBeLessThanOrEqual(1 + sixteenths)
        expect(steps('dropBefore') - needed.length).toBeLessThanOrEqual(1 + sixteenths)
      }),
      RUNS,
    )
  })

  test('a conversation is shortened to fit the token budget if its latest round fits', () => {
    const weigh = (items: readonly Item[]) =>
      items.reduce((sum, item) => sum + estimateItemTokens(item), 0)
    fc.assert(
      fc.property(anyConversation, ({ overrides, most, items }) => {
        fc.pre(weigh(items.slice(findRoundStarts(items).at(-1))) < most)
        const plan = listTransforms({
          policy: resolvePolicy([CUTS_AT_ANY_LENGTH, overrides]),
          tokenBudget: most,
          reader: null,
        })
        expect(weigh(runTransforms(items, plan).items)).toBeLessThanOrEqual(most)
      }),
      RUNS,
    )
  })
})
