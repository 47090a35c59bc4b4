/**
 * Computes the number of tokens from which the upstream is to compact the conversation itself. It is the
 * same number in every turn of a conversation.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import { hasResponsesEndpoint } from '../../../providers/has-responses-endpoint.ts'
import type { TargetCapabilities } from '../../../upstream/resolve-target-capabilities.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { mayStoreRequest } from '../../history/memory-thread-and-storage-permission.ts'
import type { PlannedRequest } from '../planned-request.ts'
import { DEFAULT_CONTEXT_WINDOW, resolveModelWindow } from './estimate-tokens-and-window.ts'

/**
 * Returns null if the upstream cannot compact, or could only when its window is full: the gateway then makes
 * the summary, if the policy turns summaries on.
 */
export function computeCompactionThreshold(
  { account, model, minCompactionTokens }: TargetCapabilities,
  { clientRequest, history, policy }: Pick<PlannedRequest, 'clientRequest' | 'history' | 'policy'>,
): number | null {
  const { trigger, by, above } = policy.summaries
  const { overflow, client } = clientRequest
  // Task requests (titles, tags) are not part of the conversation.
  if (by === 'gateway' || trigger !== 'tokens' || client.isTask) return null
  if (minCompactionTokens === null || !isCompactionRetained(clientRequest, history)) return null
  const isRequested = overflow !== null && (overflow.compactNow || overflow.compactAbove !== null)
  // The gateway makes the compaction that the client requests (`summaries/compact-conversation.ts`).
  if (isRequested && !hasResponsesEndpoint(account, 'compact')) return null
  const window = resolveModelWindow(account, model, policy)
  // `above` is a share of the window up to 1, and a number of tokens otherwise.
  const configured = above > 1 ? above : above * (window ?? DEFAULT_CONTEXT_WINDOW)
  const threshold = Math.max(Math.ceil(configured), minCompactionTokens)
  return window !== null && threshold >= window ? null : threshold
}

/**
 * True if the client or the gateway retains the compaction. Otherwise the upstream would make, and charge
 * for, a new one in every turn.
 */
function isCompactionRetained(
  clientRequest: ClientRequest,
  history: Pick<LoadedHistory, 'recallResult'>,
): boolean {
  const { dialect, client } = clientRequest
  return (dialect === 'responses' && !client.isOpenWebUi) || mayStoreRequest(clientRequest, history)
}
