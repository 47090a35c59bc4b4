/**
 * Computes the number of tokens above which the upstream itself compacts the conversation. It does not depend on
 * the conversation's length, so all requests of a conversation send the same number.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import { hasCompactOrCountEndpoint } from '../../../providers/has-compact-or-count-endpoint.ts'
import type { TargetCapabilities } from '../../../upstream/resolve-target-capabilities.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { mayStoreRequest } from '../../history/memory-thread-and-storage-permission.ts'
import type { PlannedRequest } from '../planned-request.ts'
import { resolveInputLimit, resolveSummaryThreshold } from './estimate-tokens-and-window.ts'

/**
 * Returns null if the upstream must not compact the conversation (e.g. `summaries.by` is `gateway`), cannot, or only
 * when its window is full. The gateway then summarizes the conversation itself, if the policy turns that on.
 */
export function computeCompactionThreshold(
  { account, model, minCompactionTokens }: TargetCapabilities,
  { clientRequest, history, policy }: Pick<PlannedRequest, 'clientRequest' | 'history' | 'policy'>,
): number | null {
  const { trigger, by, above } = policy.summaries
  const { overflow, client } = clientRequest
  // Task requests (titles, tags) are not part of the conversation, so they are not compacted.
  if (by === 'gateway' || trigger !== 'tokens' || client.isTask) return null
  if (minCompactionTokens === null || !isCompactionRetained(clientRequest, history)) return null
  const isRequested = overflow !== null && (overflow.compactNow || overflow.compactAbove !== null)
  // If the upstream cannot make the compaction that the client requests, `summaries/compact-conversation-if-due.ts`
  // makes it.
  if (isRequested && !hasCompactOrCountEndpoint(account, 'compact')) return null
  const limit = resolveInputLimit(account, model, policy)
  const threshold = Math.ceil(Math.max(resolveSummaryThreshold(above, limit), minCompactionTokens))
  return limit !== null && threshold >= limit.tokens ? null : threshold
}

/**
 * True if the client or the gateway keeps the compaction for later requests. Otherwise the upstream would make,
 * and charge for, a new compaction in every turn.
 */
function isCompactionRetained(
  clientRequest: ClientRequest,
  history: Pick<LoadedHistory, 'recallResult'>,
): boolean {
  const { dialect, client } = clientRequest
  return (dialect === 'responses' && !client.isOpenWebUi) || mayStoreRequest(clientRequest, history)
}
