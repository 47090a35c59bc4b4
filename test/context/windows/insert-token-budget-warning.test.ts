import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Origin } from '../../../src/core/item.ts'
import {
  countStepsSinceWarning,
  addBudgetWarning,
} from '../../../src/context/windows/insert-token-budget-warning.ts'
import { show, talk } from '../../support/talk.ts'

const origins: readonly Origin[] = Array.from({ length: 6 }, (_, at) => ({
  wire: 'chat',
  account: 'a',
  model: `step ${at}`,
  prefixHash: null,
}))

/** A question, and steps of a tool loop that each fill the window by another tenth. */
function loop(steps: number): readonly Item[] {
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

const exit = (warnAt: number) => ({
  window: 1000,
  warnAt,
  counted: (origin: Origin) => (origins.indexOf(origin) + 1) * 100,
})
const warned = (items: readonly Item[], warnAt = 0.3) => addBudgetWarning(exit(warnAt)).run(items)
const isWarning = (item: Item) => item.native?.['backstory']?.['warning'] === true

describe('C61', () => {
  test('a model at work is told once, behind the step that filled the window so far', () => {
    const { items, notes } = warned(loop(5))
    expect(items.filter(isWarning)).toHaveLength(1)
    expect(items.findIndex(isWarning)).toBe(loop(3).length)
    expect(show(items)).toContain('filled 30 %')
    expect(notes).toEqual([{ did: 'added', why: 'budget-warned' }])
  })

  test('before that, and where nobody has counted, nothing is said', () => {
    const items = loop(2)
    expect(warned(items).items).toBe(items)
    const uncounted = { ...exit(0.3), counted: () => null }
    const many = loop(5)
    expect(addBudgetWarning(uncounted).run(many).items).toBe(many)
  })

  test('a step in which the upstream has compacted has emptied it, whatever it was counted at', () => {
    const [third] = origins.slice(2)
    const items = loop(5).flatMap((item): readonly Item[] =>
      third !== undefined && item.origin === third
        ? [{ ...COMPACTION, origin: third }, item]
        : [item],
    )
    // That is the step behind it.
    expect(warned(items).items.findIndex(isWarning)).toBe(loop(4).length + 1)
  })

  test('it is gone when the turn is over', () => {
    const items = [...loop(5), ...talk`assistant: Done.`, ...talk`user: Thanks.`]
    expect(warned(items).items).toBe(items)
  })

  test('steps are counted from there', () => {
    expect([2, 3, 4, 6].map((steps) => countStepsSinceWarning(loop(steps), exit(0.3)))).toEqual([
      null,
      0,
      1,
      3,
    ])
  })

  test('with one more step what was sent before is sent again', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5 }),
        fc.double({ min: 0.05, max: 0.9, noNaN: true }),
        (steps, warnAt) => {
          const before = warned(loop(steps), warnAt).items
          const after = warned(loop(steps + 1), warnAt).items
          expect(after.slice(0, before.length)).toEqual(before)
          expect(warned(after, warnAt).items).toBe(after)
        },
      ),
    )
  })
})
