/**
 * The history of a request with all that stands beside what was said: the summary of its beginning, what
 * the layers tell, and the media that its upstreams do not load themselves. Each is looked for only
 * where it is wanted, and none that fails costs the answer anything but itself.
 */
import { planRequest } from '../plan-request.ts'
import { loadMemoryBlocks } from './load-memory-blocks.ts'
import {
  loadRemoteMedia,
  type MediaLoadOptions,
  type HistoryWithRemoteMedia,
} from './load-remote-media.ts'
import { addSummaryToHistory } from '../../summaries/add-summary-to-history.ts'
import type { GatewayDependencies } from '../../dependencies-interface.ts'

export async function loadAdditions(
  asking: Omit<MediaLoadOptions, 'plan'>,
  world: GatewayDependencies,
): Promise<HistoryWithRemoteMedia> {
  const { clientRequest, caller } = asking
  const summed = await addSummaryToHistory(clientRequest, asking.history, caller, world)
  const history = await loadMemoryBlocks(clientRequest, summed, asking, world)
  // Last, because what is left out is not loaded.
  const plan: MediaLoadOptions['plan'] = (target) =>
    planRequest(target, { clientRequest, history }, world)
  return loadRemoteMedia({ ...asking, history, plan }, world)
}
