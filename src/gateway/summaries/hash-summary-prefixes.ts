/**
 * Hashes each prefix of a conversation that a summary may replace: all items up to a border between two
 * rounds. A stored summary is found by this hash, so forks of a conversation share the summaries of the
 * prefixes that they share.
 *
 * The hash leaves out items that stay beside a summary (leading instructions, pinned items), so that
 * instructions may change from day to day. It includes the hidden authors: a summary that was made with
 * their messages is not found when they are hidden.
 */
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { createAlwaysSentItemPredicate } from '../../context/find-undroppable-items.ts'
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import { extendContentHash } from '../record/hash-conversation-content.ts'

export interface SummaryPrefix {
  /** The index of the first item after the prefix. */
  readonly at: number
  /** The number of rounds in the prefix. Summaries count rounds as turns. */
  readonly turns: number
  readonly hash: string
}

/** Returns the prefixes from the shortest to the longest, in one pass over the items. */
export function hashSummaryPrefixes({
  items,
  hidden,
}: SummarizableItems): readonly SummaryPrefix[] {
  const isAlwaysSent = createAlwaysSentItemPredicate(items)
  const prefixes: SummaryPrefix[] = []
  let hash = hidden.length === 0 ? '' : JSON.stringify([...new Set(hidden)].toSorted())
  let at = 0
  for (const [turns, start] of findRoundStarts(items).entries()) {
    const added = items.slice(at, start).filter((item, index) => !isAlwaysSent(at + index, item))
    hash = extendContentHash(hash, added)
    at = start
    // Before the first round there are only leading items.
    if (turns > 0) prefixes.push({ at, turns, hash })
  }
  return prefixes
}
