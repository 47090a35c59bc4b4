/**
 * Hashes the prefixes of a conversation that a summary may replace. A prefix consists of all items before the start of
 * a round. A stored summary is found by the hash of its prefix, also in a fork of the conversation.
 *
 * The hash excludes items that a summary does not replace (leading instructions, pinned items), because instructions
 * may change, e.g. with the date. It includes the names of hidden authors: once an author is hidden, a summary of
 * that author's messages is no longer found.
 */
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { createAlwaysSentItemPredicate } from '../../context/always-sent-items.ts'
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import { extendContentHash } from '../record/hash-conversation-content.ts'

export interface SummaryPrefix {
  /** The index after the last item of the prefix. */
  readonly endIndex: number
  /** The number of rounds in the prefix. */
  readonly rounds: number
  readonly hash: string
}

/** Returns the prefixes from the shortest to the longest. */
export function hashSummaryPrefixes({
  items,
  hiddenAuthors,
}: SummarizableItems): readonly SummaryPrefix[] {
  const isAlwaysSent = createAlwaysSentItemPredicate(items)
  const prefixes: SummaryPrefix[] = []
  let hash =
    hiddenAuthors.length === 0 ? '' : JSON.stringify([...new Set(hiddenAuthors)].toSorted())
  let start = 0
  for (const [rounds, endIndex] of findRoundStarts(items).entries()) {
    const hashed = items
      .slice(start, endIndex)
      .filter((item, index) => !isAlwaysSent(start + index, item))
    hash = extendContentHash(hash, hashed)
    start = endIndex
    // A summary replaces at least one round, so the items before the first round alone are no prefix.
    if (rounds > 0) prefixes.push({ endIndex, rounds, hash })
  }
  return prefixes
}
