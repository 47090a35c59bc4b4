/** Rejects a request whose latest question has media larger than the upstream accepts. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { UpstreamMediaSupport } from '../../media/resolve-upstream-media-support.ts'
import { findOversizedMedia } from '../../media/transforms/hide-media-over-size-limit.ts'
import type { PlannedRequest } from './planned-request.ts'
import { itemListField, itemParamPath } from './request-item-path.ts'

/** Returns the plan itself if its media can be sent; throws a GatewayError otherwise. */
export function rejectLargeMedia<Plan extends PlannedRequest>(
  plan: Plan,
  support: UpstreamMediaSupport,
): Plan {
  const { prompt, originalPositions, clientRequest } = plan
  const fault = clientRequest.generatesAnswer ? findOversizedMedia(prompt.items, support) : null
  if (fault === null) return plan
  const index = originalPositions[fault.at] ?? null
  const param = index === null ? itemListField(clientRequest) : itemParamPath(plan, index)
  throw new GatewayError('invalid_value', fault.sentence, { param })
}
