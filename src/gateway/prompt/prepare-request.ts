/**
 * Finds out what an upstream will be sent: what of all that there is (`plan-request.ts`), and how that is said
 * in the upstream's wire (`encode-planned-request.ts`). By itself it is a dry run (`dry-run.ts`), as `explain` shows
 * it. Who wants to know only the former asks for the plan alone.
 */
import type { Encoded } from '../../providers/provider-interface.ts'
import type { World } from '../dependencies-interface.ts'
import type { Target } from '../../upstream/accounts-and-model-routing.ts'
import { encodePlan } from './encode-planned-request.ts'
import { planned, type Planned, type ToBePlanned } from './plan-request.ts'

export interface Prepared extends Planned {
  readonly encoded: Encoded
}

/** Throws a GatewayError for what cannot be sent. */
export function prepareFor(target: Target, asked: ToBePlanned, world: World): Prepared {
  return encodePlan(planned(target, asked, world))
}
