/** What a request is made up of, in tokens and bytes: where the money goes. */
import { isModelItem } from '../core/items/is-model-item.ts'
import type { Item } from '../core/item.ts'
import { readItemLayer } from '../memory/insert-layer-blocks.ts'
import type { PromptParameters } from '../core/prompt.ts'
import { countHeadItems } from '../core/items/rounds-and-pinned-items.ts'
import {
  measureMedia,
  subtractSizes,
  ZERO_SIZE,
  addSizes,
  scaleSize,
  measureJson,
  type Size,
} from './item-size.ts'

export const SIZE_PARTS = [
  'instructions',
  'tools',
  'history',
  'added',
  'media',
  'newest_input',
  'overhead',
] as const

/** `added` is what the gateway put in: notes, layers, summaries. `overhead` is all the rest. */
export type SizeByPart = Readonly<Record<(typeof SIZE_PARTS)[number], Size>>

export interface RequestSizeInput {
  readonly items: readonly Item[]
  readonly weights: readonly Size[]
  readonly places: readonly (number | null)[]
  /** The places of those that the wire has no word for: they are in nothing that is sent. */
  readonly unsaid: ReadonlySet<number | null>
  readonly params: Pick<PromptParameters, 'instructions' | 'tools'>
  /** The body as a whole. */
  readonly total: Size
  /** What an estimate of tokens is to be multiplied with. */
  readonly correction: number
}

export interface RequestSizes {
  readonly parts: SizeByPart
  /** Of what was added, the part of each layer that is told; `null` if none is. */
  readonly layers: Readonly<Record<string, Size>> | null
}

export function measureRequestParts(made: RequestSizeInput): RequestSizes {
  const { total, correction } = made
  const { sums, told } = keptParts(made)
  const kept = [...Object.values(sums), ...Object.values(told)].reduce(addSizes)
  // As it is kept an item may be larger than as it is sent, and parts are never more than the whole.
  const scale = {
    bytes: Math.min(1, total.bytes / Math.max(1, kept.bytes)),
    tokens: Math.min(correction, total.tokens / Math.max(1, kept.tokens)),
  }
  const layers = mapped(told, (weight) => scaleSize(weight, scale))
  const scaled = mapped(sums, (part) => scaleSize(part, scale))
  const known = { ...scaled, added: [scaled.added, ...Object.values(layers)].reduce(addSizes) }
  return {
    parts: { ...known, overhead: subtractSizes(total, Object.values(known).reduce(addSizes)) },
    layers: Object.keys(layers).length === 0 ? null : layers,
  }
}

interface Kept {
  /** Without what layers tell. */
  readonly sums: Readonly<Record<Exclude<keyof SizeByPart, 'overhead'>, Size>>
  readonly told: Readonly<Record<string, Size>>
}

function keptParts({ items, weights, places, unsaid, params }: RequestSizeInput): Kept {
  const { instructions, tools } = params
  const head = countHeadItems(items)
  const newest = items.findLastIndex(isModelItem) + 1
  const sums = {
    instructions: instructions === null ? ZERO_SIZE : measureJson(instructions),
    tools: tools.length === 0 ? ZERO_SIZE : measureJson(tools),
    history: ZERO_SIZE,
    added: ZERO_SIZE,
    media: ZERO_SIZE,
    newest_input: ZERO_SIZE,
  }
  const told: Record<string, Size> = {}
  items.forEach((item, at) => {
    const place = places[at] ?? null
    if (unsaid.has(place)) return
    const own = weights[at] ?? ZERO_SIZE
    const layer = place === null ? readItemLayer(item) : null
    if (layer !== null) {
      told[layer] = addSizes(told[layer] ?? ZERO_SIZE, own)
      return
    }
    const media = measureMedia(item)
    const part = partOf(at, { head, newest, isAdded: place === null })
    sums[part] = addSizes(sums[part], media === ZERO_SIZE ? own : subtractSizes(own, media))
    if (media !== ZERO_SIZE) sums.media = addSizes(sums.media, media)
  })
  return { sums, told }
}

function mapped<Name extends string>(
  weights: Readonly<Record<Name, Size>>,
  change: (weight: Size) => Size,
): Readonly<Record<Name, Size>> {
  const entries = Object.entries<Size>(weights).map(([name, weight]) => [name, change(weight)])
  return Object.fromEntries(entries) as Record<Name, Size>
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
