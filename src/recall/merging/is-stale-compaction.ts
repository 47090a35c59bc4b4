/**
 * Recognizes a recorded compaction that replaces text which the client has since edited. A compaction
 * covers everything before it, and so does a fingerprint: if no turn of the segment has the segment's
 * fingerprint, earlier text was edited or removed.
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
