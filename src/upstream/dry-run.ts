/** What would be sent to the upstream that is asked first, without asking it. */
import type { Caller } from '../conversation/caller.ts'
import type { Inbound } from '../dialect/dialect.ts'
import { remember } from '../history/remember.ts'
import type { World } from '../world.ts'
import { route } from './accounts.ts'
import { prepareFor, type Prepared } from './prepare.ts'
import { withAdditions } from './with-additions.ts'

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
