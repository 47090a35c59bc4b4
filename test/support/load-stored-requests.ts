/** Loads the requests that a gateway stored for an answer. */
import { isCompaction } from '../../src/core/items/compaction-item.ts'
import { isGatewayToolItem } from '../../src/core/items/gateway-tool-items.ts'
import type { Item } from '../../src/core/item.ts'
import type { Caller } from '../../src/core/client/caller.ts'
import type { SentRequest } from '../../src/store/upstream-requests/upstream-request-store-interface.ts'
import type { StoredTurn } from '../../src/store/turns/turn-store-interface.ts'
import type { Stores } from '../../src/store/create-stores.ts'

/** All tool rounds in order, with null for a missing one; or the reason why there are none. */
export type StoredRequests =
  | readonly (SentRequest | null)[]
  | 'not kept'
  | 'under way'
  | 'nothing to keep'

export async function loadStoredRequests(
  { id, owner }: { readonly id: string; readonly owner: Caller },
  { requests, archive }: Pick<Stores, 'requests' | 'archive'>,
  accounts: ReadonlySet<string>,
): Promise<StoredRequests> {
  const last = await requests.loadRequest(owner, id)
  const turn = await archive.loadTurn(owner, id)
  // A deleted turn has no requests, even if the object is still in memory.
  if (turn === null || turn.deletedAtMs !== null) return 'nothing to keep'
  if (last !== null) {
    const rounds = Array.from({ length: last.round }, (_, at) => at)
    const before = rounds.map((round) => requests.loadRequest(owner, id, round))
    const missing = Math.max(0, countRounds(turn.output) - last.roundCount)
    return [...(await Promise.all(before)), last, ...Array.from({ length: missing }, () => null)]
  }
  if (turn.state === 'open' || turn.state === 'queued') return 'under way'
  return wasAnswered(turn, accounts) ? 'not kept' : 'nothing to keep'
}

/** Returns the minimum number of upstream requests: each gateway tool output needs one more. */
function countRounds(output: readonly Item[]): number {
  const isOutput = (item: Item | undefined): boolean =>
    item?.type === 'function_call_output' && isGatewayToolItem(item)
  return 1 + output.filter((item, at) => isOutput(output[at - 1]) && !isOutput(item)).length
}

/** True if an upstream answered: it did not fail earlier, and the answer needed a model. */
function wasAnswered(turn: StoredTurn, accounts: ReadonlySet<string>): boolean {
  const { state, output, servedModel, origin } = turn
  if (!accounts.has(origin.account)) return false
  if (state !== 'complete' && state !== 'incomplete') return output.length > 0
  return servedModel !== null || !output.every(isCompaction)
}
