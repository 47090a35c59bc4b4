/**
 * The history of a request with all that stands beside what was said: the summary of its beginning, what
 * the layers tell, and the media that its upstreams do not load themselves. Each is looked for only
 * where it is wanted, and none that fails costs the answer anything but itself.
 */
import { planned } from '../plan-request.ts'
import { withLayers } from './load-memory-blocks.ts'
import { withMedia, type Asking, type WithMedia } from './load-remote-media.ts'
import { withSummary } from '../../summaries/add-summary-to-history.ts'
import type { World } from '../../dependencies-interface.ts'

export async function withAdditions(
  asking: Omit<Asking, 'plan'>,
  world: World,
): Promise<WithMedia> {
  const { inbound, caller } = asking
  const summed = await withSummary(inbound, asking.history, caller, world)
  const history = await withLayers(inbound, summed, asking, world)
  // Last, because what is left out is not loaded.
  const plan: Asking['plan'] = (target) => planned(target, { inbound, history }, world)
  return withMedia({ ...asking, history, plan }, world)
}
