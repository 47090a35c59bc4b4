/**
 * Whether an upstream can make anything of a compaction. Ours are words and told to everybody, if they
 * are as we made them. What an upstream has made is for its own wire, and for the account that made it
 * where that is known; over Anthropic's only for a model that compacts, over Responses for any. One
 * that broke off upstream stands for nothing.
 */
import {
  isGatewayCompaction,
  isCompleteCompaction,
  readCompactionWire,
  readGatewayCompaction,
} from '../../core/items/compaction-item.ts'
import type { OpaqueItem } from '../../core/item.ts'

/** Who is asked. */
export interface CompactionSupport {
  readonly wire: string
  readonly account: string
  /** Whether it makes compactions itself, and so understands that it is asked for one. */
  readonly compacts: boolean
}

export function canReadCompaction(
  item: OpaqueItem,
  { wire, account, compacts }: CompactionSupport,
): boolean {
  if (isGatewayCompaction(item)) return readGatewayCompaction(item) !== null
  if (readCompactionWire(item) !== wire || !isCompleteCompaction(item)) return false
  if (wire === 'anthropic' ? !compacts : wire !== 'responses') return false
  // Without an origin the client has brought it along, and knows where from.
  const { origin } = item
  return origin === undefined || (origin.wire === wire && origin.account === account)
}
