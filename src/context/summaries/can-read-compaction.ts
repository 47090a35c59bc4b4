/**
 * Decides whether an upstream can read a compaction. A compaction made by the gateway is text that all upstreams can
 * read, unless the client has changed it. A compaction made by an upstream is encrypted: only the same API can read
 * it, and only the same account if the account is known. Anthropic's API reads it only with models that make
 * compactions. A compaction whose answer was interrupted is unusable.
 */
import {
  isGatewayCompaction,
  isCompleteCompaction,
  readCompactionWire,
  readGatewayCompactionSummary,
} from '../../core/items/compaction-item.ts'
import type { OpaqueItem } from '../../core/item.ts'

/** Describes the upstream to which the items are sent. */
export interface CompactionReader {
  readonly wire: string
  readonly account: string
  /** True if the upstream makes compactions itself, and thus accepts a request to compact the conversation. */
  readonly makesCompactions: boolean
}

export function canReadCompaction(
  item: OpaqueItem,
  { wire, account, makesCompactions }: CompactionReader,
): boolean {
  if (isGatewayCompaction(item)) return readGatewayCompactionSummary(item) !== null
  if (readCompactionWire(item) !== wire || !isCompleteCompaction(item)) return false
  if (wire === 'anthropic' ? !makesCompactions : wire !== 'responses') return false
  // Without an origin, the account is unknown, because the client has sent the compaction itself. The client is assumed
  // to have sent it to the right upstream.
  const { origin } = item
  return origin === undefined || (origin.wire === wire && origin.account === account)
}
