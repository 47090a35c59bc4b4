/**
 * Names the beginnings of a conversation for which a summary may stand: each from its start up to a
 * border between two turns, by a hash of what was said. What stays beside a summary (instructions at the
 * head, what is pinned) is not part of its name, so that instructions may change from day to day. Of whom
 * nothing is shown is: what was told of them elsewhere is not told here.
 *
 * Forks of a conversation share these names as far as they share what was said, and one that was edited
 * has others from there on.
 */
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { createAlwaysSentItemPredicate } from '../../context/windows/item-weights.ts'
import type { SummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import { extendContentHash } from '../record/hash-conversation-content.ts'

export interface SummaryPrefix {
  /** The place of the first item behind it. */
  readonly at: number
  /** How many turns are in front of it. */
  readonly turns: number
  readonly hash: string
}

/** Oldest first, in one pass. */
export function hashSummaryPrefixes({
  items,
  hidden,
}: SummarizableItems): readonly SummaryPrefix[] {
  const stays = createAlwaysSentItemPredicate(items)
  const borders: SummaryPrefix[] = []
  let hash = hidden.length === 0 ? '' : JSON.stringify([...new Set(hidden)].toSorted())
  let at = 0
  for (const [turns, start] of findRoundStarts(items).entries()) {
    const said = items.slice(at, start).filter((item, place) => !stays(at + place, item))
    hash = extendContentHash(hash, said)
    at = start
    // Nothing is in front of the first turn but what was there before anybody asked.
    if (turns > 0) borders.push({ at, turns, hash })
  }
  return borders
}
