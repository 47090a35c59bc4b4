/**
 * Inserts the text of memory layers into the prompt, each as a developer message in a tag. Stable
 * blocks come after the leading instructions, their changes before the question of the round,
 * volatile blocks before the latest question.
 *
 * At these positions a block does not move during a turn, the user's text stays last, and only the
 * part after the previous question is missing from the provider's cache. A provider may move only
 * stable blocks into its system prompt.
 *
 * Layer messages exist in this request only: they are not stored, cut or summarized. Rounds are
 * counted in the complete conversation, even if the prompt contains only a part.
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
  /** `''` if there are only changes. */
  readonly text: string
  readonly changes: readonly LayerChange[]
}

/** `conversation` is the complete list, if the transform gets only a part of it. */
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

/**
 * Returns the layer that made a message. Clients cannot set this field, so the message is
 * gateway-generated.
 */
export function readItemLayer(item: Item): string | null {
  const name = readGatewayField(item)?.['layer']
  return typeof name === 'string' ? name : null
}

/**
 * Renders a block as a developer message. `</` in the text is escaped, so the text cannot close the
 * tag.
 */
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
  /** A number means: before the question of this round (from 1). */
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
    // The prompt lacks this round, e.g. in a transform of the conversation's first part.
    if (wanted === undefined) return null
    let at = Math.max(head, wanted)
    // Moves to the next insertion point, so that a call and its output stay together.
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

/** Returns the index of the first item whose original position is at least `start`. */
function firstFrom(start: number | undefined, places: OriginalPositions): number | undefined {
  if (start === undefined) return undefined
  const at = places.findIndex((place) => place !== null && place >= start)
  return at < 0 ? undefined : at
}
