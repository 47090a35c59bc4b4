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
import type { Ports } from '../../dependencies-interface.ts'

export async function loadAdditions(
  asking: Omit<MediaLoadOptions, 'plan'>,
  ports: Ports<
    | 'accounts'
    | 'facts'
    | 'layers'
    | 'log'
    | 'media'
    | 'mediaLoader'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'summaries'
  >,
): Promise<HistoryWithRemoteMedia> {
  const { clientRequest, caller } = asking
  const summed = await addSummaryToHistory(clientRequest, asking.history, caller, ports)
  const history = await loadMemoryBlocks(clientRequest, summed, asking, ports)
  // Last, because what is left out is not loaded.
  const plan: MediaLoadOptions['plan'] = (target) =>
    planRequest(target, { clientRequest, history }, ports)
  return loadRemoteMedia({ ...asking, history, plan }, ports)
}
