/**
 * Tells a model that works on and on, tool call by tool call, when the conversation has filled its
 * window to a certain share: once, in the running turn, behind the step by which it was so. It keeps
 * that place for as long as the turn runs, and is gone with it.
 *
 * What counts is what the provider has counted, not an estimate. Where nobody has, nothing is said.
 */
import { isCompaction } from '../../core/items/compaction-item.ts'
import { createNoticePart } from '../../core/text/gateway-notice.ts'
import type { Item, Message, Origin } from '../../core/item.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { findInsertionPoints } from '../insertion-points.ts'
import type { Transform } from '../transform-interface.ts'

export interface BudgetWarningOptions {
  /** In tokens. */
  readonly window: number
  /** A share of it. */
  readonly warnAt: number
  /** How many tokens a step came to, all that it was given included; `null` if nobody said. */
  readonly counted: (origin: Origin) => number | null
}

export function addBudgetWarning(exit: BudgetWarningOptions): Transform {
  return {
    name: 'warn-of-budget',
    run(items) {
      if (items.some(isWarning)) return { items, notes: [] }
      const place = placeOf(items, exit)
      if (place === null) return { items, notes: [] }
      return {
        items: items.toSpliced(place, 0, warning(exit.warnAt)),
        notes: [{ did: 'added', why: 'budget-warned' }],
      }
    },
  }
}

/** How many steps the model has made since it was due to be warned; `null` if it is not. */
export function countStepsSinceWarning(
  items: readonly Item[],
  exit: BudgetWarningOptions,
): number | null {
  const place = placeOf(items, exit)
  return place === null ? null : new Set(originsOf(items.slice(place))).size
}

function placeOf(
  items: readonly Item[],
  { window, warnAt, counted }: BudgetWarningOptions,
): number | null {
  const question = findRoundStarts(items).at(-1)
  if (question === undefined || items.at(-1)?.type === 'message') return null
  // What a compaction was made of is counted with its answer, and is not there any more.
  const compacted = new Set(items.filter(isCompaction).map(({ origin }) => origin))
  const full = originsOf(items.slice(question)).find(
    (origin) => !compacted.has(origin) && (counted(origin) ?? 0) >= window * warnAt,
  )
  if (full === undefined) return null
  const borders = findInsertionPoints(items)
  const end = items.findLastIndex(({ origin }) => origin === full) + 1
  // Behind the outputs of its calls.
  const place = borders.indexOf(true, end)
  return place < 0 ? items.length : place
}

function originsOf(items: readonly Item[]): readonly Origin[] {
  return [...new Set(items.flatMap(({ origin }) => (origin === undefined ? [] : [origin])))]
}

function warning(warnAt: number): Message {
  const text = `This conversation has filled ${Math.round(warnAt * 100)} % of what you can be given. Finish now: call no further tool unless you must, say what is done, what was found out and what is open.`
  return {
    type: 'message',
    role: 'developer',
    content: [createNoticePart(text)],
    native: { backstory: { warning: true } },
  }
}

function isWarning({ native }: Item): boolean {
  return native?.['backstory']?.['warning'] === true
}
