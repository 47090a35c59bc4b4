/**
 * The history of a request with what the layers tell beside it, where any are wanted. What they keep of
 * the answer is `gateway/after-answer/update-memory-layers.ts`.
 */
import type { Caller } from '../../../core/client/caller.ts'
import { type Item, textOf } from '../../../core/item.ts'
import type { ContextPolicy, LayerRules } from '../../../core/context-policy.ts'
import { roundStarts } from '../../../core/items/rounds-and-pinned-items.ts'
import type { Inbound } from '../../../core/client-request.ts'
import type { History } from '../../history/load-history-by-id.ts'
import { memoryPlace } from '../../history/memory-thread-and-storage-permission.ts'
import type { After, Layer } from '../../../memory/memory-layer-interface.ts'
import { LAYERS } from '../../../memory/layer-registry.ts'
import { placeLayers } from '../../../memory/insert-layer-blocks.ts'
import { runLayers, wantedOf, type LayersContext } from '../../../memory/load-layer-blocks.ts'
import type { Transform } from '../../../context/transform-interface.ts'
import type { World } from '../../dependencies-interface.ts'
import { route } from '../../../upstream/accounts-and-model-routing.ts'
import { isWished } from '../has-summary-or-layer-override.ts'
import { policyFor } from '../resolve-request-policy.ts'

/** The very same history, and nothing is looked at, if nobody wants any. */
export async function withLayers(
  inbound: Inbound,
  history: History,
  { caller, after }: Asker,
  world: World,
): Promise<History> {
  if (inbound.client.isTask || !isWished('layers', { inbound, history }, world.settings))
    return history
  const rules = route(world, inbound.params.model, inbound.dialect)
    .map(({ model }) => policyFor(model, { inbound, history }, world.settings).layers)
    .find((wanted) => wantsLayers(wanted, world))
  if (rules === undefined) return history
  const items = [...history.items, ...inbound.items]
  const context = contextOf({ inbound, history, items, rules, turnId: null }, caller, world)
  if (context.round === 0) return history
  return { ...history, layers: await runLayers(context, layersOf(world), after) }
}

interface Asker {
  readonly caller: Caller
  readonly after: After
}

export function layersOf({ memoryLayers = LAYERS }: Pick<World, 'memoryLayers'>): readonly Layer[] {
  return memoryLayers
}

export function wantsLayers(rules: LayerRules, world: World): boolean {
  return layersOf(world).some((layer) => layer.isWanted(rules))
}

/** What of it this policy wants told; `items` is the whole conversation. */
export function layerSteps(
  { layers: rules }: ContextPolicy,
  { layers: told }: Pick<History, 'layers'>,
  items: readonly Item[],
  world: World,
): readonly Transform[] {
  if (told === undefined || rules.scope !== told.rules.scope) return []
  const wanted = new Set(wantedOf(layersOf(world), rules).map(({ layer }) => layer.name))
  const blocks = told.blocks.filter(({ name }) => wanted.has(name))
  return blocks.length === 0 ? [] : [placeLayers(blocks, items)]
}

interface Asked {
  readonly inbound: Inbound
  readonly history: History
  readonly items: readonly Item[]
  readonly rules: LayerRules
  /** Of the answer, once it is given. */
  readonly turnId: string | null
}

/** What a layer is told of a request. */
export function contextOf(
  { inbound, history, items, rules, turnId }: Asked,
  { tenant, user }: Caller,
  world: World,
): LayersContext {
  const starts = roundStarts(items)
  const question = items
    .slice(starts.at(-1) ?? items.length)
    .flatMap((item) =>
      item.type === 'message' && item.role === 'user' ? [textOf(item.content)] : [],
    )
    .join('\n')
  return {
    ...memoryPlace(inbound, history, turnId),
    owner: { tenant, user },
    items,
    round: starts.length,
    question,
    model: inbound.params.model,
    rules,
    ports: world,
  }
}
