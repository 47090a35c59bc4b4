/** Measures how large each part of a request is: instructions, tools, history, media etc. */
import { isItemOfAnswer } from '../core/items/is-item-of-answer.ts'
import { readItemLayer } from '../memory/insert-layer-blocks.ts'
import type { PromptParameters } from '../core/prompt.ts'
import { countItemsBeforeFirstRound } from '../core/items/rounds-and-pinned-items.ts'
import {
  measureItemMedia,
  subtractSizes,
  ZERO_SIZE,
  addSizes,
  scaleSize,
  measureJson,
  type ItemLists,
  type Size,
  sumSizes,
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
 * Size of each part of a request. `added` is text that the gateway inserted, e.g. memory layers and
 * summaries. `overhead` is the rest of the body, e.g. field names.
 */
export type SizeByPart = Readonly<Record<(typeof SIZE_PARTS)[number], Size>>

export interface RequestSizeInput extends Pick<ItemLists, 'sentItems' | 'originalPositions'> {
  /** Sizes of the sent items. */
  readonly sizes: readonly Size[]
  /**
   * Original positions of all dropped items. Needed because `sentItems` still contains the items that only
   * the encoder dropped.
   */
  readonly droppedPositions: ReadonlySet<number | null>
  readonly params: Pick<PromptParameters, 'instructions' | 'tools'>
  /** Size of the complete body. */
  readonly bodySize: Size
  /** Factor that corrects token estimates, learned from the provider's counts, e.g. 1.2. */
  readonly correction: number
}

export interface RequestSizes {
  readonly parts: SizeByPart
  /** Size of each memory layer, which is also counted in `parts.added`. Null if there are no layers. */
  readonly layers: Readonly<Record<string, Size>> | null
}

export function measureRequestParts(input: RequestSizeInput): RequestSizes {
  const { bodySize, correction } = input
  const { sums, layerSums } = sumParts(input)
  const sum = sumSizes([...Object.values(sums), ...Object.values(layerSums)])
  // The parts are measured before encoding, which may shorten them. They are therefore scaled down so that
  // they do not exceed the size of the body.
  const scale = {
    bytes: Math.min(1, bodySize.bytes / Math.max(1, sum.bytes)),
    tokens: Math.min(correction, bodySize.tokens / Math.max(1, sum.tokens)),
  }
  const layers = mapSizes(layerSums, (size) => scaleSize(size, scale))
  const scaled = mapSizes(sums, (part) => scaleSize(part, scale))
  const known = { ...scaled, added: sumSizes([scaled.added, ...Object.values(layers)]) }
  return {
    parts: { ...known, overhead: subtractSizes(bodySize, sumSizes(Object.values(known))) },
    layers: Object.keys(layers).length === 0 ? null : layers,
  }
}

/**
 * Sums the sizes of each part and of each memory layer. Here, `added` does not include the memory layers,
 * and `overhead` is missing.
 */
function sumParts(input: RequestSizeInput) {
  const { sentItems, sizes, originalPositions, droppedPositions } = input
  const { instructions, tools } = input.params
  const head = countItemsBeforeFirstRound(sentItems)
  const newest = sentItems.findLastIndex(isItemOfAnswer) + 1
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
  sentItems.forEach((item, index) => {
    const place = originalPositions[index] ?? null
    if (droppedPositions.has(place)) return
    const size = sizes[index] ?? ZERO_SIZE
    const layer = place === null ? readItemLayer(item) : null
    if (layer !== null) {
      layerSums[layer] = addSizes(layerSums[layer] ?? ZERO_SIZE, size)
      return
    }
    const media = measureItemMedia(item)
    const part = place === null ? 'added' : partAt(index)
    sums[part] = addSizes(sums[part], media === ZERO_SIZE ? size : subtractSizes(size, media))
    if (media !== ZERO_SIZE) sums.media = addSizes(sums.media, media)
  })
  return { sums, layerSums }
}

function mapSizes<Name extends string>(
  sizes: Readonly<Record<Name, Size>>,
  change: (size: Size) => Size,
): Readonly<Record<Name, Size>> {
  const entries = Object.entries<Size>(sizes).map(([name, size]) => [name, change(size)])
  return Object.fromEntries(entries) as Record<Name, Size>
}
