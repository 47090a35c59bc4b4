/**
 * Loads the text blocks of the memory layers (facts, working memory, observations) before a request is
 * planned. `listLayerTransforms` returns the transform that inserts them when a request is planned. `gateway/after-answer/update-memory-layers.ts` updates the layers after an answer.
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
  budgetEnabledLayers,
  isAnyLayerEnabled,
  type LoadedLayers,
  type SharedLayerContext,
} from '../../../memory/load-layer-blocks.ts'
import type { RunInBackground, MemoryLayer } from '../../../memory/memory-layer-interface.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { resolveMemoryThread } from '../../history/memory-thread-and-storage-permission.ts'
import type { Ports } from '../../dependencies-interface.ts'

export type LayerContextPorts = Ports<'facts' | 'layers' | 'log' | 'newTurnId' | 'nowMs'>

export interface MemoryLoadOptions extends Pick<LayerContextInput, 'clientRequest' | 'history'> {
  readonly caller: Caller
  readonly waitUntil: RunInBackground
}

/** Resolves to null if no policy turns a layer on. `policies`: one for each target. */
export async function loadMemoryBlocks(
  { clientRequest, history, caller, waitUntil }: MemoryLoadOptions,
  policies: readonly ContextPolicy[],
  ports: LayerContextPorts & Ports<'memoryLayers'>,
): Promise<LoadedLayers | null> {
  const layers = listMemoryLayers(ports)
  const rules = policies.find((policy) => isAnyLayerEnabled(layers, policy.layers))?.layers
  if (rules === undefined) return null
  const items = [...history.items, ...clientRequest.items]
  const input = { clientRequest, history, items, rules, turnId: null }
  const context = buildLayerContext(input, caller, ports)
  return context.round === 0 ? null : loadLayerBlocks(context, layers, waitUntil)
}

export function listMemoryLayers({
  memoryLayers = MEMORY_LAYERS,
}: Ports<'memoryLayers'>): readonly MemoryLayer[] {
  return memoryLayers
}

/**
 * Returns the transform that inserts the blocks of the layers that this policy turns on; an empty list if there
 * is no such block, or if the blocks were loaded for another `layers.scope`. `items`: the complete conversation.
 */
export function listLayerTransforms(
  { layers: rules }: ContextPolicy,
  { layers: loaded }: Pick<LoadedHistory, 'layers'>,
  items: readonly Item[],
  ports: Ports<'memoryLayers'>,
): readonly Transform[] {
  if (loaded === undefined || rules.scope !== loaded.rules.scope) return []
  const requested = budgetEnabledLayers(listMemoryLayers(ports), rules)
  const names = new Set(requested.map(({ layer }) => layer.name))
  const blocks = loaded.blocks.filter(({ name }) => names.has(name))
  return blocks.length === 0 ? [] : [insertLayerBlocks(blocks, items)]
}

interface LayerContextInput {
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
  readonly items: readonly Item[]
  readonly rules: LayerRules
  /** The turn of the answer; null if it does not exist yet. */
  readonly turnId: string | null
}

/** Builds the input that all layers get: the conversation, its owner, the latest question, and the ports. */
export function buildLayerContext(
  { clientRequest, history, items, rules, turnId }: LayerContextInput,
  { tenant, user }: Caller,
  ports: LayerContextPorts,
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
    ports,
  }
}
