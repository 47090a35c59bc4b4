/**
 * Loads the blocks of all enabled memory layers in parallel, each with its own timeout. A layer
 * that fails or is late, or whose block cannot be shortened to its token limit, is left out with a
 * note; the answer does not fail.
 */
import type { Note } from '../core/note.ts'
import type { LayerRules } from '../core/context-policy.ts'
import { estimateItemTokens } from '../core/items/item-tokens.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../core/async/wait-with-timeout.ts'
import { NOTE_DESCRIPTIONS } from '../context/note-descriptions.ts'
import { divideLayerTokens } from './divide-layer-tokens.ts'
import type {
  RunInBackground,
  LayerBlock,
  MemoryLayer,
  LayerContext,
  LayerLoadContext,
} from './memory-layer-interface.ts'
import { renderLayerMessage, type RenderedBlock } from './insert-layer-blocks.ts'

export interface LoadedLayers {
  readonly blocks: readonly RenderedBlock[]
  readonly notes: readonly Note[]
  /** The rules of the context policy with which the blocks were loaded. */
  readonly rules: LayerRules
}

/**
 * The layer context without the token limit, which is the only field that differs between the
 * layers.
 */
export type SharedLayerContext = Omit<LayerContext, 'tokenLimit'>

/** An enabled memory layer with its share of the policy's token limit for all layers. */
export interface BudgetedLayer {
  readonly layer: MemoryLayer
  readonly tokenLimit: number
}

export async function loadLayerBlocks(
  context: SharedLayerContext,
  layers: readonly MemoryLayer[],
  defer: RunInBackground,
): Promise<LoadedLayers> {
  const enabled = budgetEnabledLayers(layers, context.rules)
  const tokenLimits = new Map(
    enabled.map((budgeted) => [budgeted.layer.name, countTextTokens(budgeted, context)]),
  )
  const results = await Promise.all(
    enabled.map((budgeted) => loadLayerBlock(budgeted, { ...context, tokenLimits }, defer)),
  )
  return {
    blocks: results.flatMap((result) => (isNote(result) ? [] : (result ?? []))),
    notes: results.filter((result) => isNote(result)),
    rules: context.rules,
  }
}

export function isAnyLayerEnabled(layers: readonly MemoryLayer[], rules: LayerRules): boolean {
  return layers.some((layer) => layer.isEnabled(rules))
}

/**
 * Returns the enabled layers, each with its share of the policy's token limit for all layers. They
 * are in the order in which their blocks are inserted.
 */
export function budgetEnabledLayers(
  layers: readonly MemoryLayer[],
  rules: LayerRules,
): readonly BudgetedLayer[] {
  const enabled = layers
    .filter((layer) => layer.isEnabled(rules))
    .toSorted((a, b) => a.order - b.order)
  const shares = divideLayerTokens(rules.tokens, enabled)
  return enabled.map((layer, index) => ({ layer, tokenLimit: shares[index] ?? 0 }))
}

/**
 * Returns how many tokens the text of a layer may have. The tag around the block counts toward the
 * token limit of the layer, so the text gets only the rest.
 */
function countTextTokens(
  { layer, tokenLimit }: BudgetedLayer,
  context: SharedLayerContext,
): number {
  const block = { name: layer.name, stability: layer.getStability(context) }
  return tokenLimit - estimateItemTokens(renderLayerMessage(block, ''))
}

async function loadLayerBlock(
  { layer, tokenLimit }: BudgetedLayer,
  context: Omit<LayerLoadContext, 'tokenLimit'>,
  defer: RunInBackground,
): Promise<RenderedBlock | Note | null> {
  const { name } = layer
  try {
    const textTokens = context.tokenLimits.get(name) ?? 0
    if (textTokens <= 0) return createOmissionNote('layer-too-long', name)
    const loading = layer.loadBlock({ ...context, tokenLimit: textTokens }, defer)
    const block = await waitWithTimeout(loading, Math.min(layer.timeoutMs, MAX_TIMEOUT_MS))
    if (block === TIMED_OUT)
      return createFailureNote(name, 'layer-late', 'It took too long.', context)
    return block === null ? null : fitBlock(block, { layer, tokenLimit }, context)
  } catch (error) {
    return createFailureNote(name, 'layer-failed', errorMessage(error), context)
  }
}

const MAX_TIMEOUT_MS = 5000

/**
 * Makes the block fit the layer's token limit: returns it unchanged, shortened, or as a note that
 * it is too long; `null` if it is empty. A shortened block is measured again, because `shortenTo`
 * does not count the escape characters in the message.
 */
function fitBlock(
  { text, changes = [], shortenTo }: LayerBlock,
  { layer, tokenLimit }: BudgetedLayer,
  context: SharedLayerContext,
): RenderedBlock | Note | null {
  const { name } = layer
  const block = { name, stability: layer.getStability(context), changes }
  const fits = (layerText: string): boolean =>
    estimateItemTokens(renderLayerMessage(block, layerText)) <= tokenLimit
  if (text === '' && changes.length === 0) return null
  if (text === '' || fits(text)) return { ...block, text }
  const shortened =
    shortenTo?.(tokenLimit - estimateItemTokens(renderLayerMessage(block, ''))) ?? null
  return shortened === null || !fits(shortened)
    ? createOmissionNote('layer-too-long', name)
    : { ...block, text: shortened }
}

function createFailureNote(
  name: string,
  why: string,
  message: string,
  { ports }: SharedLayerContext,
): Note {
  ports.log('warn', why, { layer: name, why: message })
  return createOmissionNote(why, name)
}

function createOmissionNote(why: string, name: string): Note {
  const detail = `${(NOTE_DESCRIPTIONS[why] ?? '').replace(/\.$/, '')} (${name}).`
  return { did: 'dropped', field: 'layers', why, by: 'layers', detail }
}

function isNote(result: RenderedBlock | Note | null): result is Note {
  return result !== null && 'did' in result
}
