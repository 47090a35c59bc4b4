/**
 * Asks all layers that are wanted, at once, and each for no longer than its patience. One that fails,
 * is late, or has too much to say is left out, with a note: it costs the answer nothing but itself.
 */
import type { Note } from '../core/note.ts'
import type { LayerRules } from '../core/context-policy.ts'
import { itemTokens } from '../core/items/item-tokens.ts'
import { messageOf } from '../core/errors/gateway-error.ts'
import { inTime, LATE } from '../core/wait-with-timeout.ts'
import { REASONS } from '../context/note-descriptions.ts'
import { budgetFor } from './divide-layer-tokens.ts'
import type { After, Block, Layer, LayerContext } from './memory-layer-interface.ts'
import { layerMessage, type ToldBlock } from './insert-layer-blocks.ts'

export interface ToldLayers {
  readonly blocks: readonly ToldBlock[]
  readonly notes: readonly Note[]
  /** By which they were asked. */
  readonly rules: LayerRules
}

/** What is asked, but for what each layer may tell. */
export type LayersContext = Omit<LayerContext, 'tokens'>

/** A layer with its part of the tokens. */
export interface Wanted {
  readonly layer: Layer
  readonly tokens: number
}

export async function runLayers(
  context: LayersContext,
  layers: readonly Layer[],
  after: After,
): Promise<ToldLayers> {
  const results = await Promise.all(
    wantedOf(layers, context.rules).map((wanted) => toldBy(wanted, context, after)),
  )
  return {
    blocks: results.flatMap((result) => (isNote(result) ? [] : (result ?? []))),
    notes: results.filter((result) => isNote(result)),
    rules: context.rules,
  }
}

/** In the order in which they are told. */
export function wantedOf(layers: readonly Layer[], rules: LayerRules): readonly Wanted[] {
  const wanted = layers.filter((layer) => layer.isWanted(rules)).toSorted((a, b) => a.slot - b.slot)
  const shares = budgetFor(rules.tokens, wanted)
  return wanted.map((layer, at) => ({ layer, tokens: shares[at] ?? 0 }))
}

async function toldBy(
  { layer, tokens }: Wanted,
  context: LayersContext,
  after: After,
): Promise<ToldBlock | Note | null> {
  const { name } = layer
  try {
    // The tag is told, too.
    const room = tokens - itemTokens(layerMessage({ name, band: layer.band(context) }, ''))
    if (room <= 0) return leftOut('layer-too-long', name)
    const asked = layer.recall({ ...context, tokens: room }, after)
    const block = await inTime(asked, Math.min(layer.timeoutMs, MOST_PATIENCE_MS))
    if (block === LATE) return failed(name, 'layer-late', 'It took too long.', context)
    return block === null ? null : fitted(block, { layer, tokens }, context)
  } catch (error) {
    return failed(name, 'layer-failed', messageOf(error), context)
  }
}

const MOST_PATIENCE_MS = 5000

/** `shortened` counts text, and here is counted what is sent. */
function fitted(
  { text, changes = [], shortened }: Block,
  { layer, tokens }: Wanted,
  context: LayersContext,
): ToldBlock | Note | null {
  const { name } = layer
  const told = { name, band: layer.band(context), changes }
  const fits = (words: string): boolean => itemTokens(layerMessage(told, words)) <= tokens
  if (text === '' && changes.length === 0) return null
  if (text === '' || fits(text)) return { ...told, text }
  const short = shortened?.(tokens - itemTokens(layerMessage(told, ''))) ?? null
  return short === null || !fits(short) ? leftOut('layer-too-long', name) : { ...told, text: short }
}

function failed(name: string, why: string, message: string, { ports }: LayersContext): Note {
  ports.log('warn', why, { layer: name, why: message })
  return leftOut(why, name)
}

function leftOut(why: string, name: string): Note {
  const detail = `${(REASONS[why] ?? '').replace(/\.$/, '')} (${name}).`
  return { did: 'dropped', field: 'layers', why, by: 'layers', detail }
}

function isNote(result: ToldBlock | Note | null): result is Note {
  return result !== null && 'did' in result
}
