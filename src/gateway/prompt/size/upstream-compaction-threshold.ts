/**
 * From how many tokens on an upstream is to compact what it is sent: where the policy leaves that to the
 * upstream, and the upstream can. It is the same number in every turn, and an upstream that cannot, or
 * only when its window is full, is not asked: then the gateway sums up.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import { hasResponsesEndpoint } from '../../../providers/has-responses-endpoint.ts'
import type { TargetFacts } from '../../../upstream/describe-target.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { mayStoreRequest } from '../../history/memory-thread-and-storage-permission.ts'
import type { PlannedRequest } from '../planned-request.ts'
import { DEFAULT_CONTEXT_WINDOW, resolveModelWindow } from './estimate-tokens-and-window.ts'

/** `null` where the gateway makes the summaries, if anybody does. */
export function computeCompactionThreshold(
  { account, model, minCompactionTokens }: TargetFacts,
  { clientRequest, history, policy }: Pick<PlannedRequest, 'clientRequest' | 'history' | 'policy'>,
): number | null {
  const { trigger, by, above } = policy.summaries
  const { overflow, client } = clientRequest
  // Housekeeping is no conversation, and what nobody wants is not looked up.
  if (by === 'gateway' || trigger !== 'tokens' || client.isTask) return null
  if (minCompactionTokens === null || !isHeld(clientRequest, history)) return null
  const isAskedHere = overflow !== null && (overflow.compactNow || overflow.compactAbove !== null)
  // The client has its own made by the gateway.
  if (isAskedHere && !hasResponsesEndpoint(account, 'compact')) return null
  const window = resolveModelWindow(account, model, policy)
  const wanted = above > 1 ? above : above * (window ?? DEFAULT_CONTEXT_WINDOW)
  const from = Math.max(Math.ceil(wanted), minCompactionTokens)
  return window !== null && from >= window ? null : from
}

/** Whether somebody will have what comes of it. Else it would be made, and paid for, in every turn. */
function isHeld(
  clientRequest: ClientRequest,
  history: Pick<LoadedHistory, 'recallResult'>,
): boolean {
  const { dialect, client } = clientRequest
  return (dialect === 'responses' && !client.isOpenWebUi) || mayStoreRequest(clientRequest, history)
}
