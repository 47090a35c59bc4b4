/**
 * Loads into a history the content that the model is sent beside the conversation's items: the summary of its
 * beginning, the blocks of the memory layers, and media from URLs that an upstream does not load itself. The
 * request is sent without an addition that cannot be loaded.
 */
import type { Ports } from '../../dependencies-interface.ts'
import { addSummaryToHistory } from '../../summaries/add-summary-to-history.ts'
import type { PlanPorts } from '../list-prompt-transforms.ts'
import { planRequest } from '../plan-request.ts'
import { resolveRequestPolicy } from '../resolve-request-policy.ts'
import { loadMemoryBlocks, type LayerContextPorts } from './load-memory-blocks.ts'
import {
  loadRemoteMedia,
  type MediaLoadOptions,
  type HistoryWithRemoteMedia,
  type MediaLoadPorts,
} from './load-remote-media.ts'

export async function loadPromptAdditions(
  options: Omit<MediaLoadOptions, 'plan'>,
  ports: PlanPorts & LayerContextPorts & MediaLoadPorts & Ports<'summaries'>,
): Promise<HistoryWithRemoteMedia> {
  const { clientRequest, targets } = options
  // Task requests (titles, tags) need no memory of the conversation.
  const policies = clientRequest.client.isTask
    ? []
    : targets.map(({ model }) => resolveRequestPolicy(model, options, ports.settings))
  // Loaded together, because neither depends on the other and each takes a round trip to the database.
  const [summarized, layers] = await Promise.all([
    addSummaryToHistory(options, policies, ports),
    loadMemoryBlocks(options, policies, ports),
  ])
  const history = layers === null ? summarized : { ...summarized, layers }
  // Media are loaded after the summary, because media of summarized items are not needed.
  const plan: MediaLoadOptions['plan'] = (target) =>
    planRequest(target, { clientRequest, history }, ports)
  return loadRemoteMedia({ ...options, history, plan }, ports)
}
