/**
 * The history of a request with what the layers tell beside it, where any are wanted. What they keep of
 * the answer is `gateway/after-answer/update-memory-layers.ts`.
 */
import type { Transform } from '../../../context/transform-interface.ts'
import type { ClientRequest } from '../../../core/client-request.ts'
import type { Caller } from '../../../core/client/caller.ts'
import type { ContextPolicy, LayerRules } from '../../../core/context-policy.ts'
import { type Item, textOf } from '../../../core/item.ts'
import { findRoundStarts } from '../../../core/items/rounds-and-pinned-items.ts'
import { insertLayerBlocks } from '../../../memory/insert-layer-blocks.ts'
import { MEMORY_LAYERS } from '../../../memory/layer-registry.ts'
import {
  loadLayerBlocks,
  budgetRequestedLayers,
  type SharedLayerContext,
} from '../../../memory/load-layer-blocks.ts'
import type { RunInBackground, MemoryLayer } from '../../../memory/memory-layer-interface.ts'
import { routeModel } from '../../../upstream/accounts-and-model-routing.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { resolveMemoryThread } from '../../history/memory-thread-and-storage-permission.ts'
import { hasSummaryOrLayerOverride } from '../has-summary-or-layer-override.ts'
import { resolveRequestPolicy } from '../resolve-request-policy.ts'
import type { Ports } from '../../dependencies-interface.ts'

/** The very same history, and nothing is looked at, if nobody wants any. */
export async function loadMemoryBlocks(
  clientRequest: ClientRequest,
  history: LoadedHistory,
  { caller, waitUntil }: Asker,
  ports: Ports<
    'accounts' | 'facts' | 'layers' | 'log' | 'memoryLayers' | 'newTurnId' | 'nowMs' | 'settings'
  >,
): Promise<LoadedHistory> {
  if (
    clientRequest.client.isTask ||
    !hasSummaryOrLayerOverride('layers', { clientRequest, history }, ports.settings)
  )
    return history
  const rules = routeModel(ports, clientRequest.params.model, clientRequest.dialect)
    .map(
      ({ model }) => resolveRequestPolicy(model, { clientRequest, history }, ports.settings).layers,
    )
    .find((wanted) => isAnyLayerRequested(wanted, ports))
  if (rules === undefined) return history
  const items = [...history.items, ...clientRequest.items]
  const context = buildLayerContext(
    { clientRequest, history, items, rules, turnId: null },
    caller,
    ports,
  )
  if (context.round === 0) return history
  return { ...history, layers: await loadLayerBlocks(context, listMemoryLayers(ports), waitUntil) }
}

interface Asker {
  readonly caller: Caller
  readonly waitUntil: RunInBackground
}

export function listMemoryLayers({
  memoryLayers = MEMORY_LAYERS,
}: Ports<'memoryLayers'>): readonly MemoryLayer[] {
  return memoryLayers
}

export function isAnyLayerRequested(rules: LayerRules, ports: Ports<'memoryLayers'>): boolean {
  return listMemoryLayers(ports).some((layer) => layer.isEnabled(rules))
}

/** What of it this policy wants told; `items` is the whole conversation. */
export function listLayerTransforms(
  { layers: rules }: ContextPolicy,
  { layers: told }: Pick<LoadedHistory, 'layers'>,
  items: readonly Item[],
  ports: Ports<'memoryLayers'>,
): readonly Transform[] {
  if (told === undefined || rules.scope !== told.rules.scope) return []
  const wanted = new Set(
    budgetRequestedLayers(listMemoryLayers(ports), rules).map(({ layer }) => layer.name),
  )
  const blocks = told.blocks.filter(({ name }) => wanted.has(name))
  return blocks.length === 0 ? [] : [insertLayerBlocks(blocks, items)]
}

interface Asked {
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
  readonly items: readonly Item[]
  readonly rules: LayerRules
  /** Of the answer, once it is given. */
  readonly turnId: string | null
}

/** What a layer is told of a request. */
export function buildLayerContext(
  { clientRequest, history, items, rules, turnId }: Asked,
  { tenant, user }: Caller,
  ports: Ports<'facts' | 'layers' | 'log' | 'newTurnId' | 'nowMs'>,
): SharedLayerContext {
  const starts = findRoundStarts(items)
  const question = items
    .slice(starts.at(-1) ?? items.length)
    .flatMap((item) =>
      item.type === 'message' && item.role === 'user' ? [textOf(item.content)] : [],
    )
    .join('\n')
  return {
    ...resolveMemoryThread(clientRequest, history, turnId),
    owner: { tenant, user },
    items,
    round: starts.length,
    question,
    model: clientRequest.params.model,
    rules,
    ports: ports,
  }
}
