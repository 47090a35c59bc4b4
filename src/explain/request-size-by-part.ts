/** Measures the parts of a request (instructions, tools, history …) in tokens and bytes. */
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

/**
 * Size of each part. `added` is text that the gateway inserted: notes, memory layers and summaries.
 * `overhead` is the rest of the body.
 */
export type SizeByPart = Readonly<Record<(typeof SIZE_PARTS)[number], Size>>

export interface RequestSizeInput {
  readonly items: readonly Item[]
  readonly weights: readonly Size[]
  readonly places: readonly (number | null)[]
  /** Indexes of dropped items. Some are still in `items`, because only the wire omitted them from the body. */
  readonly droppedPlaces: ReadonlySet<number | null>
  readonly params: Pick<PromptParameters, 'instructions' | 'tools'>
  /** Size of the complete body. */
  readonly total: Size
  /** Factor for token estimates, learned from the provider's counts, e.g. 1.2. */
  readonly correction: number
}

export interface RequestSizes {
  readonly parts: SizeByPart
  /** Size of each memory layer in `added`; null without layers. */
  readonly layers: Readonly<Record<string, Size>> | null
}

export function measureRequestParts(input: RequestSizeInput): RequestSizes {
  const { total, correction } = input
  const { sums, layerSums } = sumParts(input)
  const sum = [...Object.values(sums), ...Object.values(layerSums)].reduce(addSizes)
  // An item's stored JSON may be larger than its encoded form, so the parts are scaled down to the
  // size of the body.
  const scale = {
    bytes: Math.min(1, total.bytes / Math.max(1, sum.bytes)),
    tokens: Math.min(correction, total.tokens / Math.max(1, sum.tokens)),
  }
  const layers = mapSizes(layerSums, (weight) => scaleSize(weight, scale))
  const scaled = mapSizes(sums, (part) => scaleSize(part, scale))
  const known = { ...scaled, added: [scaled.added, ...Object.values(layers)].reduce(addSizes) }
  return {
    parts: { ...known, overhead: subtractSizes(total, Object.values(known).reduce(addSizes)) },
    layers: Object.keys(layers).length === 0 ? null : layers,
  }
}

interface PartSums {
  /** Size of each part except `overhead`; memory layers are not included. */
  readonly sums: Readonly<Record<Exclude<keyof SizeByPart, 'overhead'>, Size>>
  readonly layerSums: Readonly<Record<string, Size>>
}

function sumParts({ items, weights, places, droppedPlaces, params }: RequestSizeInput): PartSums {
  const { instructions, tools } = params
  const head = countHeadItems(items)
  const newest = items.findLastIndex(isModelItem) + 1
  const partAt = (index: number) =>
    index < head ? 'instructions' : index < newest ? 'history' : 'newest_input'
  const sums = {
    instructions: instructions === null ? ZERO_SIZE : measureJson(instructions),
    tools: tools.length === 0 ? ZERO_SIZE : measureJson(tools),
    history: ZERO_SIZE,
    added: ZERO_SIZE,
    media: ZERO_SIZE,
    newest_input: ZERO_SIZE,
  }
  const layerSums: Record<string, Size> = {}
  items.forEach((item, index) => {
    const place = places[index] ?? null
    if (droppedPlaces.has(place)) return
    const size = weights[index] ?? ZERO_SIZE
    const layer = place === null ? readItemLayer(item) : null
    if (layer !== null) {
      layerSums[layer] = addSizes(layerSums[layer] ?? ZERO_SIZE, size)
      return
    }
    const media = measureMedia(item)
    const part = place === null ? 'added' : partAt(index)
    sums[part] = addSizes(sums[part], media === ZERO_SIZE ? size : subtractSizes(size, media))
    if (media !== ZERO_SIZE) sums.media = addSizes(sums.media, media)
  })
  return { sums, layerSums }
}

function mapSizes<Name extends string>(
  weights: Readonly<Record<Name, Size>>,
  change: (weight: Size) => Size,
): Readonly<Record<Name, Size>> {
  const entries = Object.entries<Size>(weights).map(([name, weight]) => [name, change(weight)])
  return Object.fromEntries(entries) as Record<Name, Size>
}
