/**
 * True for a recorded compaction that replaces text which the client has since edited. A compaction
 * covers everything before it. If no turn of the segment has the segment's fingerprint, the turns
 * were found by markers or calls, so something earlier was edited or removed.
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
