/** What a request is made up of, in tokens and bytes: where the money goes. */
import { isOfModel } from '../core/items/is-model-item.ts'
import type { Item } from '../core/item.ts'
import { layerOf } from '../memory/insert-layer-blocks.ts'
import type { Params } from '../core/prompt.ts'
import { headLength } from '../core/items/rounds-and-pinned-items.ts'
import {
  mediaWeightOf,
  minus,
  NO_WEIGHT,
  plus,
  times,
  weightOfJson,
  type Weight,
} from './item-size.ts'

export const PARTS = [
  'instructions',
  'tools',
  'history',
  'added',
  'media',
  'newest_input',
  'overhead',
] as const

/** `added` is what the gateway put in: notes, layers, summaries. `overhead` is all the rest. */
export type Parts = Readonly<Record<(typeof PARTS)[number], Weight>>

export interface Made {
  readonly items: readonly Item[]
  readonly weights: readonly Weight[]
  readonly places: readonly (number | null)[]
  /** The places of those that the wire has no word for: they are in nothing that is sent. */
  readonly unsaid: ReadonlySet<number | null>
  readonly params: Pick<Params, 'instructions' | 'tools'>
  /** The body as a whole. */
  readonly total: Weight
  /** What an estimate of tokens is to be multiplied with. */
  readonly correction: number
}

export interface MadeOf {
  readonly parts: Parts
  /** Of what was added, the part of each layer that is told; `null` if none is. */
  readonly layers: Readonly<Record<string, Weight>> | null
}

export function partsOf(made: Made): MadeOf {
  const { total, correction } = made
  const { sums, told } = keptParts(made)
  const kept = [...Object.values(sums), ...Object.values(told)].reduce(plus)
  // As it is kept an item may be larger than as it is sent, and parts are never more than the whole.
  const scale = {
    bytes: Math.min(1, total.bytes / Math.max(1, kept.bytes)),
    tokens: Math.min(correction, total.tokens / Math.max(1, kept.tokens)),
  }
  const layers = mapped(told, (weight) => times(weight, scale))
  const scaled = mapped(sums, (part) => times(part, scale))
  const known = { ...scaled, added: [scaled.added, ...Object.values(layers)].reduce(plus) }
  return {
    parts: { ...known, overhead: minus(total, Object.values(known).reduce(plus)) },
    layers: Object.keys(layers).length === 0 ? null : layers,
  }
}

interface Kept {
  /** Without what layers tell. */
  readonly sums: Readonly<Record<Exclude<keyof Parts, 'overhead'>, Weight>>
  readonly told: Readonly<Record<string, Weight>>
}

function keptParts({ items, weights, places, unsaid, params }: Made): Kept {
  const { instructions, tools } = params
  const head = headLength(items)
  const newest = items.findLastIndex(isOfModel) + 1
  const sums = {
    instructions: instructions === null ? NO_WEIGHT : weightOfJson(instructions),
    tools: tools.length === 0 ? NO_WEIGHT : weightOfJson(tools),
    history: NO_WEIGHT,
    added: NO_WEIGHT,
    media: NO_WEIGHT,
    newest_input: NO_WEIGHT,
  }
  const told: Record<string, Weight> = {}
  items.forEach((item, at) => {
    const place = places[at] ?? null
    if (unsaid.has(place)) return
    const own = weights[at] ?? NO_WEIGHT
    const layer = place === null ? layerOf(item) : null
    if (layer !== null) {
      told[layer] = plus(told[layer] ?? NO_WEIGHT, own)
      return
    }
    const media = mediaWeightOf(item)
    const part = partOf(at, { head, newest, isAdded: place === null })
    sums[part] = plus(sums[part], media === NO_WEIGHT ? own : minus(own, media))
    if (media !== NO_WEIGHT) sums.media = plus(sums.media, media)
  })
  return { sums, told }
}

function mapped<Name extends string>(
  weights: Readonly<Record<Name, Weight>>,
  change: (weight: Weight) => Weight,
): Readonly<Record<Name, Weight>> {
  const entries = Object.entries<Weight>(weights).map(([name, weight]) => [name, change(weight)])
  return Object.fromEntries(entries) as Record<Name, Weight>
}

interface Place {
  readonly head: number
  readonly newest: number
  readonly isAdded: boolean
}

function partOf(at: number, { head, newest, isAdded }: Place) {
  if (isAdded) return 'added'
  if (at < head) return 'instructions'
  return at < newest ? 'history' : 'newest_input'
}
