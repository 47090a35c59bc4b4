/** A question that shows more than its model takes is refused here, in words that help. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { tooLargeToSend } from '../../media/transforms/hide-media-over-limit.ts'
import { mediaReader } from '../../media/resolve-upstream-media-support.ts'
import type { Planned } from './plan-request.ts'
import { listOf, placeIn } from './reject-unsupported-features.ts'

/** The same, if it can be sent. Throws a GatewayError. */
export function refuseTooLarge<Plan extends Planned>(plan: Plan): Plan {
  const { account, prompt, places, inbound } = plan
  const fault = inbound.generates ? tooLargeToSend(prompt.items, mediaReader(account)) : null
  if (fault === null) return plan
  const place = places[fault.at] ?? null
  const param = place === null ? listOf(inbound) : placeIn(plan, place)
  throw new GatewayError('invalid_value', fault.sentence, { param })
}
