/**
 * Prepares the upstream request for one target: selects the content (`plan-request.ts`) and encodes it for
 * the upstream's API (`encode-planned-request.ts`). Sends nothing.
 */
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import { encodePlannedRequest } from './encode-planned-request.ts'
import { planRequest } from './plan-request.ts'
import type { PlanInput, PreparedRequest } from './planned-request.ts'
import type { Ports } from '../dependencies-interface.ts'

/** Plans and encodes the request for a target. Throws a GatewayError if it cannot be sent. */
export function prepareRequest(
  target: UpstreamTarget,
  input: PlanInput,
  ports: Ports<'memoryLayers' | 'settings'>,
): PreparedRequest {
  return encodePlannedRequest(planRequest(target, input, ports))
}
