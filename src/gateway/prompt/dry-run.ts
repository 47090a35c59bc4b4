/** What would be sent to the upstream that is asked first, without asking it. */
import type { Caller } from '../../core/client/caller.ts'
import type { Inbound } from '../../core/client-request.ts'
import { remember } from '../history/load-request-history.ts'
import type { World } from '../dependencies-interface.ts'
import { route } from '../../upstream/accounts-and-model-routing.ts'
import { prepareFor, type Prepared } from './prepare-request.ts'
import { withAdditions } from './additions/load-additions.ts'

export async function dryRun(given: Inbound, caller: Caller, world: World): Promise<Prepared> {
  const [target] = route(world, given.params.model, given.dialect)
  const remembered = await remember(given, caller, world)
  const { inbound } = remembered
  const asking = { ...remembered, caller, turnId: null, after: () => undefined }
  const { history, letGo } = await withAdditions(asking, world)
  try {
    return prepareFor(target, { inbound, history }, world)
  } finally {
    letGo()
  }
}
