/**
 * Adds to a history the content that is sent beside the conversation: the summary of its beginning, the blocks of
 * the memory layers, and media that an upstream does not load itself. If one of them cannot be loaded,
 * the request is sent without it.
 */
import { createLazyValue } from '../../../core/caching/lazy-value.ts'
import type { ContextPolicy, PolicyOverrides } from '../../../core/context-policy.ts'
import { addSummaryToHistory } from '../../summaries/add-summary-to-history.ts'
import { planRequest } from '../plan-request.ts'
import { resolveRequestPolicy } from '../resolve-request-policy.ts'
import { loadMemoryBlocks } from './load-memory-blocks.ts'
import {
  loadRemoteMedia,
  type MediaLoadOptions,
  type HistoryWithRemoteMedia,
} from './load-remote-media.ts'
import type { Ports } from '../../dependencies-interface.ts'

type AdditionOptions = Omit<MediaLoadOptions, 'plan'>

export async function loadAdditions(
  options: AdditionOptions,
  ports: Ports<
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
  const { clientRequest, targets } = options
  const policiesOfTargets = createLazyValue(() =>
    targets.map(({ model }) => resolveRequestPolicy(model, options, ports.settings)),
  )
  const policiesWith = (part: OptionalPart): readonly ContextPolicy[] =>
    hasOverride(part, options, ports) ? policiesOfTargets() : []
  const summarized = await addSummaryToHistory(options, policiesWith('summaries'), ports)
  const history = await loadMemoryBlocks(
    { ...options, history: summarized },
    policiesWith('layers'),
    ports,
  )
  // Media are loaded last: those of items that the summary replaces are not needed.
  const plan: MediaLoadOptions['plan'] = (target) =>
    planRequest(target, { clientRequest, history }, ports)
  return loadRemoteMedia({ ...options, history, plan }, ports)
}

/** The parts of a policy that no preset turns on. */
type OptionalPart = 'summaries' | 'layers'

/** True if any override has this part. False for most requests, for which no policy needs to be resolved. */
function hasOverride(
  part: OptionalPart,
  { clientRequest, history }: AdditionOptions,
  { settings }: Ports<'settings'>,
): boolean {
  if (clientRequest.client.isTask) return false
  const { all, models } = settings.CONTEXT
  const overrides: readonly (PolicyOverrides | null)[] = [
    clientRequest.policyOverrides,
    all,
    ...history.policyOverrides,
    ...Object.values(models),
  ]
  return overrides.some((override) => override?.[part] !== undefined)
}
