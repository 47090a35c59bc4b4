/**
 * From how many tokens on an upstream is to compact what it is sent: where the policy leaves that to the
 * upstream, and the upstream can. It is the same number in every turn, and an upstream that cannot, or
 * only when its window is full, is not asked: then the gateway sums up.
 */
import type { Inbound } from '../../../core/client-request.ts'
import type { History } from '../../history/load-history-by-id.ts'
import { mayBeKept } from '../../history/memory-thread-and-storage-permission.ts'
import { hasEndpoint } from '../../../providers/has-responses-endpoint.ts'
import { PROVIDERS } from '../../../providers/registry.ts'
import type { Target } from '../../../upstream/accounts-and-model-routing.ts'
import { USUAL_WINDOW, windowFor } from './estimate-tokens-and-window.ts'
import type { Planned } from '../plan-request.ts'

/** `null` where the gateway makes the summaries, if anybody does. */
export function compactAboveFor(
  { account, model }: Target,
  { inbound, history, policy }: Pick<Planned, 'inbound' | 'history' | 'policy'>,
): number | null {
  const { trigger, by, above } = policy.summaries
  const { context, client } = inbound
  // Housekeeping is no conversation, and what nobody wants is not looked up.
  if (by === 'gateway' || trigger !== 'tokens' || client.isTask) return null
  const least = compactsFrom({ account, model })
  if (least === null || !isHeld(inbound, history)) return null
  const isAskedHere = context !== null && (context.compactNow || context.compactAbove !== null)
  // The client has its own made by the gateway.
  if (isAskedHere && !hasEndpoint(account, 'compact')) return null
  const window = windowFor(account, model, policy)
  const wanted = above > 1 ? above : above * (window ?? USUAL_WINDOW)
  const from = Math.max(Math.ceil(wanted), least)
  return window !== null && from >= window ? null : from
}

/** Whether somebody will have what comes of it. Else it would be made, and paid for, in every turn. */
function isHeld(inbound: Inbound, history: Pick<History, 'recollection'>): boolean {
  const { dialect, client } = inbound
  return (dialect === 'responses' && !client.isOpenWebUi) || mayBeKept(inbound, history)
}

/** The least that it can be asked for. */
export function compactsFrom({ account, model }: Target): number | null {
  return PROVIDERS[account.wire].compactsFrom?.(account, model) ?? null
}
