/**
 * Whether a recorded compaction stands for words that are no longer those of the client. It was made of
 * what was said up to there, and a turn whose fingerprint is another than that of its run was found by
 * its marker or its calls: something in front of it was edited, or is gone.
 */
import { isUpstreamCompaction } from '../../core/items/compaction-item.ts'
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'

export function isStaleCompaction(
  item: Item,
  { segment, turns }: { readonly segment: Segment; readonly turns: readonly RecordedTurn[] },
): boolean {
  if (!isUpstreamCompaction(item)) return false
  return !turns.some(
    ({ fingerprint }) => fingerprint !== null && fingerprint === segment.fingerprint,
  )
}
