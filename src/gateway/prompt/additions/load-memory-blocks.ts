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
import type { GatewayDependencies } from '../../dependencies-interface.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { resolveMemoryThread } from '../../history/memory-thread-and-storage-permission.ts'
import { hasSummaryOrLayerOverride } from '../has-summary-or-layer-override.ts'
import { resolveRequestPolicy } from '../resolve-request-policy.ts'

/** The very same history, and nothing is looked at, if nobody wants any. */
export async function loadMemoryBlocks(
  clientRequest: ClientRequest,
  history: LoadedHistory,
  { caller, waitUntil }: Asker,
  world: GatewayDependencies,
): Promise<LoadedHistory> {
  if (
    clientRequest.client.isTask ||
    !hasSummaryOrLayerOverride('layers', { clientRequest, history }, world.settings)
  )
    return history
  const rules = routeModel(world, clientRequest.params.model, clientRequest.dialect)
    .map(
      ({ model }) => resolveRequestPolicy(model, { clientRequest, history }, world.settings).layers,
    )
    .find((wanted) => isAnyLayerRequested(wanted, world))
  if (rules === undefined) return history
  const items = [...history.items, ...clientRequest.items]
  const context = buildLayerContext(
    { clientRequest, history, items, rules, turnId: null },
    caller,
    world,
  )
  if (context.round === 0) return history
  return { ...history, layers: await loadLayerBlocks(context, listMemoryLayers(world), waitUntil) }
}

interface Asker {
  readonly caller: Caller
  readonly waitUntil: RunInBackground
}

export function listMemoryLayers({
  memoryLayers = MEMORY_LAYERS,
}: Pick<GatewayDependencies, 'memoryLayers'>): readonly MemoryLayer[] {
  return memoryLayers
}

export function isAnyLayerRequested(rules: LayerRules, world: GatewayDependencies): boolean {
  return listMemoryLayers(world).some((layer) => layer.isEnabled(rules))
}

/** What of it this policy wants told; `items` is the whole conversation. */
export function listLayerTransforms(
  { layers: rules }: ContextPolicy,
  { layers: told }: Pick<LoadedHistory, 'layers'>,
  items: readonly Item[],
  world: GatewayDependencies,
): readonly Transform[] {
  if (told === undefined || rules.scope !== told.rules.scope) return []
  const wanted = new Set(
    budgetRequestedLayers(listMemoryLayers(world), rules).map(({ layer }) => layer.name),
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
  world: GatewayDependencies,
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
    ports: world,
  }
}
