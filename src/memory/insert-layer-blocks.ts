/**
 * Tells the blocks of layers, each as a developer's message of its own, in its tag: the stable ones
 * behind the head, what of them changed in front of the question of its round, the volatile ones in
 * front of the newest question. There they keep their place for as long as the turn runs, the user's
 * words stay last, and what is behind the question of the turn before is all that is not cached. Only
 * the stable ones may a wire lift to its head.
 *
 * They are of the request that is made: they are not kept, and are no part of what is cut or summed
 * up. Rounds are counted in the whole conversation, however much of it is left.
 */
import { INSERTED_INSTRUCTION_FIELD } from '../core/items/leading-instructions.ts'
import type { Item, Message } from '../core/item.ts'
import { readGatewayField } from '../core/items/author-time-and-reset-fields.ts'
import { estimateItemTokens } from '../core/items/item-tokens.ts'
import type { Note } from '../core/note.ts'
import { countHeadItems, findRoundStarts } from '../core/items/rounds-and-pinned-items.ts'
import { findInsertionPoints } from '../context/insertion-points.ts'
import type { OriginalPositions, Transform } from '../context/transform-interface.ts'
import type { LayerBand, LayerChange } from './memory-layer-interface.ts'

export interface RenderedBlock {
  readonly name: string
  readonly band: LayerBand
  /** `''` where there are changes only. */
  readonly text: string
  readonly changes: readonly LayerChange[]
}

/** `conversation` is the whole of it, if a part is all that the transform is given. */
export function insertLayerBlocks(
  blocks: readonly RenderedBlock[],
  conversation: readonly Item[] | null = null,
): Transform {
  const told = messagesFor(blocks)
  return {
    name: LAYER_TRANSFORM_NAME,
    prefixStability: 'lasting',
    run(items, places) {
      const others = items.some(isOfLayer) ? items.filter((item) => !isOfLayer(item)) : items
      const starts = others === items && places !== undefined ? startsIn(conversation) : null
      const placed = inOrder(told, others, (round) =>
        starts === null || places === undefined
          ? findRoundStarts(others)[round - 1]
          : firstFrom(starts[round - 1], places),
      )
      const all = others.flatMap((item, at) => [...(placed.get(at) ?? []), item])
      const result = all.concat(placed.get(others.length) ?? [])
      if (result.length === items.length && result.every((item, at) => item === items[at])) {
        return { items, notes: [] }
      }
      const gone = items.flatMap((item, at): readonly Note[] =>
        isOfLayer(item) ? [{ did: 'dropped', at, why: 'layer-told-anew' }] : [],
      )
      return { items: result, notes: [...gone, ...result.filter(isOfLayer).map(noteOf)] }
    },
  }
}

export const LAYER_TRANSFORM_NAME = 'place-layers'

/** The layer that an item is told for. A client cannot say this of one, so it is ours. */
export function readItemLayer(item: Item): string | null {
  const name = readGatewayField(item)?.['layer']
  return typeof name === 'string' ? name : null
}

/** As it is told. What would end the tag in the middle of it does not. */
export function renderLayerMessage(
  { name, band }: Pick<RenderedBlock, 'name' | 'band'>,
  text: string,
  suffix = '',
): Message {
  const tag = name + suffix
  return {
    type: 'message',
    role: 'developer',
    content: [
      { type: 'input_text', text: `<${tag}>\n${text.replaceAll('</', '<\\/')}\n</${tag}>` },
    ],
    native: {
      backstory: { layer: name, ...(band === 'stable' ? {} : INSERTED_INSTRUCTION_FIELD) },
    },
  }
}

const CHANGED = '_changed'

interface Told {
  /** The round that it is told in front of; `head` and `newest` are no number of one. */
  readonly place: 'head' | 'newest' | number
  readonly message: Message
}

function messagesFor(blocks: readonly RenderedBlock[]): readonly Told[] {
  return blocks.flatMap(({ name, band, text, changes }): readonly Told[] => [
    ...(text === ''
      ? []
      : [
          {
            place: band === 'stable' ? ('head' as const) : ('newest' as const),
            message: renderLayerMessage({ name, band }, text),
          },
        ]),
    ...changes.map((change) => ({
      place: change.round,
      message: renderLayerMessage({ name, band: 'volatile' }, change.text, CHANGED),
    })),
  ])
}

function isOfLayer(item: Item): boolean {
  return readItemLayer(item) !== null
}

function noteOf(item: Item): Note {
  const detail = `The memory ${readItemLayer(item) ?? ''} is told, in about ${estimateItemTokens(item)} tokens.`
  return { did: 'added', why: 'layer-told', detail }
}

function inOrder(
  told: readonly Told[],
  items: readonly Item[],
  startOf: (round: number) => number | undefined,
): ReadonlyMap<number, readonly Item[]> {
  const head = countHeadItems(items)
  const borders = findInsertionPoints(items)
  const newest = findRoundStarts(items).at(-1) ?? items.length
  const placeOf = (place: Told['place']): number | null => {
    if (place === 'head') return head
    const wanted = place === 'newest' ? newest : startOf(place)
    // Of a beginning of the conversation: that was not known then.
    if (wanted === undefined) return null
    let at = Math.max(head, wanted)
    // It parts nothing that belongs together.
    while (at < items.length && borders[at] !== true) at += 1
    return at
  }
  const placed = new Map<number, Item[]>()
  for (const { place, message } of told.toSorted((a, b) => orderOf(a.place) - orderOf(b.place))) {
    const at = placeOf(place)
    if (at === null) continue
    const there = placed.get(at)
    if (there === undefined) placed.set(at, [message])
    else there.push(message)
  }
  return placed
}

function orderOf(place: Told['place']): number {
  if (place === 'head') return 0
  return place === 'newest' ? Infinity : place
}

function startsIn(conversation: readonly Item[] | null): readonly number[] | null {
  return conversation === null ? null : findRoundStarts(conversation)
}

/** Where the first item stands that was at this place of the conversation, or behind it. */
function firstFrom(start: number | undefined, places: OriginalPositions): number | undefined {
  if (start === undefined) return undefined
  const at = places.findIndex((place) => place !== null && place >= start)
  return at < 0 ? undefined : at
}
