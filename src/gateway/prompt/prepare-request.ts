/**
 * Prepares the upstream request for one target: plans its content (`plan-request.ts`) and encodes it for
 * the upstream's API (`encode-planned-request.ts`). Sends nothing.
 */
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import { encodePlannedRequest } from './encode-planned-request.ts'
import type { PlanPorts } from './list-prompt-transforms.ts'
import { planRequest } from './plan-request.ts'
import type { PlanInput, PreparedRequest } from './planned-request.ts'

/** Throws a GatewayError if the request cannot be sent, e.g. because its prompt is empty. */
export function prepareRequest(
  target: UpstreamTarget,
  input: PlanInput,
  ports: PlanPorts,
): PreparedRequest {
  return encodePlannedRequest(planRequest(target, input, ports))
}
