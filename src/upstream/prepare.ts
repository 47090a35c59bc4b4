/**
 * Finds out what an upstream will be sent: what of all that there is (`planned.ts`), and how that is said
 * in the upstream's wire (`encode-plan.ts`). By itself it is a dry run (`dry-run.ts`), as `explain` shows
 * it. Who wants to know only the former asks for the plan alone.
 */
import type { Encoded } from '../provider/provider.ts'
import type { World } from '../world.ts'
import type { Target } from './accounts.ts'
import { encodePlan } from './encode-plan.ts'
import { planned, type Planned, type ToBePlanned } from './planned.ts'

export interface Prepared extends Planned {
  readonly encoded: Encoded
}

/** Throws a GatewayError for what cannot be sent. */
export function prepareFor(target: Target, asked: ToBePlanned, world: World): Prepared {
  return encodePlan(planned(target, asked, world))
}
