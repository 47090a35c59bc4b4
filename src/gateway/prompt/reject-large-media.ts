/** Rejects a request if media in its latest user message are larger than the upstream accepts. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { UpstreamMediaUrlsAndLimits } from '../../media/resolve-upstream-media-urls-and-limits.ts'
import { findOversizedMedia } from '../../media/transforms/hide-media-over-size-limit.ts'
import type { PlannedRequest } from './planned-request.ts'
import { getItemListField, formatItemPath } from './request-item-path.ts'

/** Returns `plan` if its media can be sent; throws a GatewayError otherwise. */
export function rejectLargeMedia<Plan extends PlannedRequest>(
  plan: Plan,
  support: UpstreamMediaUrlsAndLimits,
): Plan {
  const { prompt, originalPositions, clientRequest } = plan
  const fault = clientRequest.generatesAnswer ? findOversizedMedia(prompt.items, support) : null
  if (fault === null) return plan
  const index = originalPositions[fault.itemIndex] ?? null
  const param = index === null ? getItemListField(clientRequest) : formatItemPath(plan, index)
  throw new GatewayError('invalid_value', fault.message, { param })
}
