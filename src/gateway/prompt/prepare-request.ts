/**
 * Finds out what an upstream will be sent: what of all that there is (`plan-request.ts`), and how that is said
 * in the upstream's wire (`encode-planned-request.ts`). By itself it is a dry run (`dry-run.ts`), as `explain` shows
 * it. Who wants to know only the former asks for the plan alone.
 */
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import { encodePlannedRequest } from './encode-planned-request.ts'
import { planRequest } from './plan-request.ts'
import type { PlanInput, PreparedRequest } from './planned-request.ts'
import type { Ports } from '../dependencies-interface.ts'

/** Throws a GatewayError for what cannot be sent. */
export function prepareRequest(
  target: UpstreamTarget,
  asked: PlanInput,
  ports: Ports<'memoryLayers' | 'settings'>,
): PreparedRequest {
  return encodePlannedRequest(planRequest(target, asked, ports))
}
