/**
 * Decides whether an upstream can use a compaction. Compactions made by the gateway are text and readable for
 * all upstreams, if the client has not changed them. Compactions made by an upstream are encrypted: only the
 * same API can read them, and only the same account where the account is known. Anthropic reads them only
 * with models that compact. A compaction that was interrupted upstream is unusable.
 */
import {
  isGatewayCompaction,
  isCompleteCompaction,
  readCompactionWire,
  readGatewayCompactionSummary,
} from '../../core/items/compaction-item.ts'
import type { OpaqueItem } from '../../core/item.ts'

/** Describes the upstream that will read the items. */
export interface CompactionSupport {
  readonly wire: string
  readonly account: string
  /** True if the upstream makes compactions itself, and so accepts a request for one. */
  readonly compacts: boolean
}

export function canReadCompaction(
  item: OpaqueItem,
  { wire, account, compacts }: CompactionSupport,
): boolean {
  if (isGatewayCompaction(item)) return readGatewayCompactionSummary(item) !== null
  if (readCompactionWire(item) !== wire || !isCompleteCompaction(item)) return false
  if (wire === 'anthropic' ? !compacts : wire !== 'responses') return false
  // An item without an origin was sent by the client, which chose this upstream for it.
  const { origin } = item
  return origin === undefined || (origin.wire === wire && origin.account === account)
}
