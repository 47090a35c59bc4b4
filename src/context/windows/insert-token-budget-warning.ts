/**
 * Inserts a warning that the context window is nearly full, so that a model with tools finishes. The policy sets the
 * share of the window, e.g. 80 %. The warning follows the answer that reached this share, keeps its position until the
 * round ends, and is not sent in later rounds.
 *
 * The share is computed from the provider's token counts, not from estimates. Without such a count there is no warning.
 */
import { isCompaction } from '../../core/items/compaction-item.ts'
import { createNoticePart } from '../../core/text/gateway-notice.ts'
import type { Item, Message, Origin } from '../../core/item.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { findInsertionPoints } from '../insertion-points.ts'
import type { Transform } from '../transform-interface.ts'

export interface BudgetWarningOptions {
  /** Context window of the model, in tokens. */
  readonly contextWindow: number
  /** The share of the window at which the warning is due, e.g. 0.8. */
  readonly warnAt: number
  /** Returns the tokens of an answer and its prompt together, or `null` if the provider reported no count. */
  readonly countTokens: (origin: Origin) => number | null
}

export function insertTokenBudgetWarning(options: BudgetWarningOptions): Transform {
  return {
    name: 'warn-of-budget',
    run(items) {
      if (items.some(isWarning)) return { items, notes: [] }
      const position = findWarningPosition(items, options)
      if (position === null) return { items, notes: [] }
      return {
        items: items.toSpliced(position, 0, createWarning(options.warnAt)),
        notes: [{ did: 'added', why: 'budget-warned' }],
      }
    },
  }
}

/**
 * Returns how many times the model has answered since the warning was due (once per tool round), so that its tools can
 * be taken away if it goes on. `null` if the warning is not due.
 */
export function countAnswersSinceWarning(
  items: readonly Item[],
  options: BudgetWarningOptions,
): number | null {
  const position = findWarningPosition(items, options)
  return position === null ? null : new Set(listOrigins(items.slice(position))).size
}

function findWarningPosition(
  items: readonly Item[],
  { contextWindow, warnAt, countTokens }: BudgetWarningOptions,
): number | null {
  const question = findRoundStarts(items).at(-1)
  if (question === undefined || items.at(-1)?.type === 'message') return null
  // Answers with a compaction are skipped, because their token count includes the items that it replaced.
  const compacted = new Set(items.filter(isCompaction).map(({ origin }) => origin))
  const full = listOrigins(items.slice(question)).find(
    (origin) => !compacted.has(origin) && (countTokens(origin) ?? 0) >= contextWindow * warnAt,
  )
  if (full === undefined) return null
  const end = items.findLastIndex(({ origin }) => origin === full) + 1
  // The next position at which a message may be inserted is after the outputs of the answer's calls.
  const position = findInsertionPoints(items).indexOf(true, end)
  return position < 0 ? items.length : position
}

function listOrigins(items: readonly Item[]): readonly Origin[] {
  return [...new Set(items.flatMap(({ origin }) => (origin === undefined ? [] : [origin])))]
}

function createWarning(warnAt: number): Message {
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
