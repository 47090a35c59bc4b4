/** A question that shows more than its model takes is refused here, in words that help. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { findOversizedMedia } from '../../media/transforms/hide-media-over-limit.ts'
import { resolveMediaSupport } from '../../media/resolve-upstream-media-support.ts'
import type { PlannedRequest } from './plan-request.ts'
import { itemListField, itemParamPath } from './reject-unsupported-features.ts'

/** The same, if it can be sent. Throws a GatewayError. */
export function rejectLargeMedia<Plan extends PlannedRequest>(plan: Plan): Plan {
  const { account, prompt, originalPositions, clientRequest } = plan
  const fault = clientRequest.generatesAnswer
    ? findOversizedMedia(prompt.items, resolveMediaSupport(account))
    : null
  if (fault === null) return plan
  const place = originalPositions[fault.at] ?? null
  const param = place === null ? itemListField(clientRequest) : itemParamPath(plan, place)
  throw new GatewayError('invalid_value', fault.sentence, { param })
}
