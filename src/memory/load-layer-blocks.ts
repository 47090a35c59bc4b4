/**
 * Loads the blocks of all enabled layers in parallel, each with its own timeout. A layer that
 * fails, is late or is too long is left out with a note; the answer does not fail.
 */
import type { Note } from '../core/note.ts'
import type { LayerRules } from '../core/context-policy.ts'
import { estimateItemTokens } from '../core/items/item-tokens.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../core/wait-with-timeout.ts'
import { NOTE_DESCRIPTIONS } from '../context/note-descriptions.ts'
import { divideTokens } from './divide-layer-tokens.ts'
import type {
  RunInBackground,
  LayerBlock,
  MemoryLayer,
  LayerContext,
} from './memory-layer-interface.ts'
import { renderLayerMessage, type RenderedBlock } from './insert-layer-blocks.ts'

export interface LayerResults {
  readonly blocks: readonly RenderedBlock[]
  readonly notes: readonly Note[]
  /** The rules with which the layers were loaded. */
  readonly rules: LayerRules
}

/** The context that all layers share; each layer gets its own token limit. */
export type SharedLayerContext = Omit<LayerContext, 'tokens'>

/** A layer with its share of the tokens. */
export interface BudgetedLayer {
  readonly layer: MemoryLayer
  readonly tokens: number
}

export async function loadLayerBlocks(
  context: SharedLayerContext,
  layers: readonly MemoryLayer[],
  after: RunInBackground,
): Promise<LayerResults> {
  const results = await Promise.all(
    budgetRequestedLayers(layers, context.rules).map((wanted) => toldBy(wanted, context, after)),
  )
  return {
    blocks: results.flatMap((result) => (isNote(result) ? [] : (result ?? []))),
    notes: results.filter((result) => isNote(result)),
    rules: context.rules,
  }
}

/** Returns the enabled layers in the order of their blocks. */
export function budgetRequestedLayers(
  layers: readonly MemoryLayer[],
  rules: LayerRules,
): readonly BudgetedLayer[] {
  const wanted = layers
    .filter((layer) => layer.isEnabled(rules))
    .toSorted((a, b) => a.slot - b.slot)
  const shares = divideTokens(rules.tokens, wanted)
  return wanted.map((layer, at) => ({ layer, tokens: shares[at] ?? 0 }))
}

async function toldBy(
  { layer, tokens }: BudgetedLayer,
  context: SharedLayerContext,
  after: RunInBackground,
): Promise<RenderedBlock | Note | null> {
  const { name } = layer
  try {
    // The tag around the block counts, too.
    const room =
      tokens - estimateItemTokens(renderLayerMessage({ name, band: layer.band(context) }, ''))
    if (room <= 0) return leftOut('layer-too-long', name)
    const asked = layer.recall({ ...context, tokens: room }, after)
    const block = await waitWithTimeout(asked, Math.min(layer.timeoutMs, MOST_PATIENCE_MS))
    if (block === TIMED_OUT) return failed(name, 'layer-late', 'It took too long.', context)
    return block === null ? null : fitted(block, { layer, tokens }, context)
  } catch (error) {
    return failed(name, 'layer-failed', errorMessage(error), context)
  }
}

const MOST_PATIENCE_MS = 5000

/** Checks the size of the complete message, because `shortenTo` counts only the text. */
function fitted(
  { text, changes = [], shortenTo }: LayerBlock,
  { layer, tokens }: BudgetedLayer,
  context: SharedLayerContext,
): RenderedBlock | Note | null {
  const { name } = layer
  const told = { name, band: layer.band(context), changes }
  const fits = (words: string): boolean =>
    estimateItemTokens(renderLayerMessage(told, words)) <= tokens
  if (text === '' && changes.length === 0) return null
  if (text === '' || fits(text)) return { ...told, text }
  const short = shortenTo?.(tokens - estimateItemTokens(renderLayerMessage(told, ''))) ?? null
  return short === null || !fits(short) ? leftOut('layer-too-long', name) : { ...told, text: short }
}

function failed(name: string, why: string, message: string, { ports }: SharedLayerContext): Note {
  ports.log('warn', why, { layer: name, why: message })
  return leftOut(why, name)
}

function leftOut(why: string, name: string): Note {
  const detail = `${(NOTE_DESCRIPTIONS[why] ?? '').replace(/\.$/, '')} (${name}).`
  return { did: 'dropped', field: 'layers', why, by: 'layers', detail }
}

function isNote(result: RenderedBlock | Note | null): result is Note {
  return result !== null && 'did' in result
}
