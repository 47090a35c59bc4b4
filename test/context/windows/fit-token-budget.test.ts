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
import { createAlwaysSentGroupPredicate } from '../../../src/context/windows/item-weights.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { planTokenBudget } from '../../../src/context/windows/plan-token-budget.ts'
import { show, talk } from '../../support/talk.ts'

describe('the room that a model has', () => {
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
  const run = (most: number) => fitTokenBudget({ most, policy: resolvePolicy([]) }).run(items)

  test('what fits, instructions and all, is the very same list', () => {
    expect(run(all).items).toBe(items)
  })

  test('the oldest rounds go, whole, until the rest fits', () => {
    const { items: left, notes } = run(all - 1)
    expect(show(left)).not.toContain('user: one')
    expect(show(left)).toContain('user: two')
    expect(notes.map(({ at, why }) => `${at} ${why}`)).toEqual(['1 over-window', '2 over-window'])
  })

  test('instructions and the newest question stay, whether they fit or not', () => {
    expect(show(run(1).items)).toBe('system: be brief\nuser: three')
  })
})

/** A turn: how long its question and its answer are, and the outputs in between. */
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

const WISHES: readonly PolicyOverrides[] = [
  { policy: 'replay' },
  { policy: 'retain' },
  { policy: 'lean' },
  { policy: 'retain', outputs: { keepTurns: 1, step: 2 }, media: { images: 2 } },
]

/** After each item that is said: what a request would leave out and shorten. */
function plansOf(items: readonly Item[], wishes: PolicyOverrides, most: number) {
  const room = createTokenBudgetOptions({ most, policy: resolvePolicy([wishes]) })
  return items.map((_, at) => {
    const said = items.slice(0, at + 1)
    return planTokenBudget(said, createAlwaysSentGroupPredicate(said), room)
  })
}

const grown = fc.record({
  wishes: fc.constantFrom(...WISHES),
  most: fc.integer({ min: 2200, max: 9000 }),
  items: fc.array(turn, { minLength: 10, maxLength: 40 }).map(itemsOf),
})

const RUNS = { numRuns: 25 }

describe('while a conversation grows', () => {
  test('what is left out or shortened stays so, and begins with a turn', () => {
    fc.assert(
      fc.property(grown, ({ wishes, most, items }) => {
        const starts = new Set([0, ...findRoundStarts(items)])
        const plans = plansOf(items, wishes, most)
        for (const [at, { cut, shortened, hard }] of plans.entries()) {
          const before = plans[at - 1] ?? { cut: 0, shortened: 0, hard: new Uint8Array() }
          expect([cut >= before.cut, shortened >= before.shortened]).toEqual([true, true])
          expect([starts.has(cut), starts.has(shortened)]).toEqual([true, true])
          const isUndone = before.hard.some((was, place) => place < at && was > (hard[place] ?? 0))
          expect(isUndone).toBe(false)
        }
      }),
      RUNS,
    )
  })

  test('the steps are few: at most one for every sixteenth of the room that is said', () => {
    fc.assert(
      fc.property(grown, ({ wishes, most, items }) => {
        const plans = plansOf(items, wishes, most)
        const steps = (of: 'cut' | 'shortened') => new Set(plans.map((plan) => plan[of])).size - 1
        // The newest turns may need all the room by themselves, and leave none of those before.
        const needed = plans.filter(({ cut }, at) => {
          return (
            cut !== plans[at - 1]?.cut && cut === findRoundStarts(items.slice(0, at + 1)).at(-1)
          )
        })
        const said = items.reduce((sum, item) => sum + estimateItemTokens(item), 0)
        // They are the power of two below an eighth, which is more than half of that.
        const sixteenths = said / (most / 16)
        expect(steps('shortened')).toBeLessThanOrEqual(1 + sixteenths)
        expect(steps('cut') - needed.length).toBeLessThanOrEqual(1 + sixteenths)
      }),
      RUNS,
    )
  })

  test('what is left fits, as far as the newest turn does', () => {
    const weigh = (items: readonly Item[]) =>
      items.reduce((sum, item) => sum + estimateItemTokens(item), 0)
    fc.assert(
      fc.property(grown, ({ wishes, most, items }) => {
        fc.pre(weigh(items.slice(findRoundStarts(items).at(-1))) < most)
        const plan = listTransforms({ policy: resolvePolicy([wishes]), room: most, reader: null })
        expect(weigh(runTransforms(items, plan).items)).toBeLessThanOrEqual(most)
      }),
      RUNS,
    )
  })
})
