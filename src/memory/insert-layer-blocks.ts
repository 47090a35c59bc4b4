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
import { INSERTED_INSTRUCTION_FIELDS } from '../core/items/leading-instructions.ts'
import type { Item, Message } from '../core/item.ts'
import { readGatewayFields } from '../core/items/author-time-and-reset-fields.ts'
import { estimateItemTokens } from '../core/items/item-tokens.ts'
import type { Note } from '../core/note.ts'
import {
  countItemsBeforeFirstTurn,
  findRoundStarts,
} from '../core/items/rounds-and-pinned-items.ts'
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
  const messages = renderBlocks(blocks)
  return {
    name: LAYER_TRANSFORM_NAME,
    prefixChanges: 'permanent',
    run(items, originalPositions) {
      const otherItems = items.some(isLayerMessage)
        ? items.filter((item) => !isLayerMessage(item))
        : items
      const conversationRounds =
        otherItems === items && originalPositions !== undefined
          ? findConversationRounds(conversation)
          : null
      const messagesByIndex = groupByIndex(messages, otherItems, (round) =>
        conversationRounds === null || originalPositions === undefined
          ? findRoundStarts(otherItems)[round - 1]
          : findFirstIndexFrom(conversationRounds[round - 1], originalPositions),
      )
      const withBlocks = otherItems.flatMap((item, index) => [
        ...(messagesByIndex.get(index) ?? []),
        item,
      ])
      const result = withBlocks.concat(messagesByIndex.get(otherItems.length) ?? [])
      if (result.length === items.length && result.every((item, index) => item === items[index])) {
        return { items, notes: [] }
      }
      const dropNotes = items.flatMap((item, index): readonly Note[] =>
        isLayerMessage(item) ? [{ did: 'dropped', at: index, why: 'layer-told-anew' }] : [],
      )
      return {
        items: result,
        notes: [...dropNotes, ...result.filter(isLayerMessage).map(createNote)],
      }
    },
  }
}

export const LAYER_TRANSFORM_NAME = 'place-layers'

/**
 * Returns the layer that made a message. Clients cannot set this field, so the message is
 * gateway-generated.
 */
export function readItemLayer(item: Item): string | null {
  const name = readGatewayFields(item)?.['layer']
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
      backstory: { layer: name, ...(band === 'stable' ? {} : INSERTED_INSTRUCTION_FIELDS) },
    },
  }
}

const CHANGED_SUFFIX = '_changed'

interface PositionedMessage {
  /** A number means: before the question of this round (from 1). */
  readonly position: 'head' | 'latest' | number
  readonly message: Message
}

function renderBlocks(blocks: readonly RenderedBlock[]): readonly PositionedMessage[] {
  return blocks.flatMap(({ name, band, text, changes }): readonly PositionedMessage[] => [
    ...(text === ''
      ? []
      : [
          {
            position: band === 'stable' ? ('head' as const) : ('latest' as const),
            message: renderLayerMessage({ name, band }, text),
          },
        ]),
    ...changes.map((change) => ({
      position: change.round,
      message: renderLayerMessage({ name, band: 'volatile' }, change.text, CHANGED_SUFFIX),
    })),
  ])
}

function isLayerMessage(item: Item): boolean {
  return readItemLayer(item) !== null
}

function createNote(item: Item): Note {
  const detail = `The memory ${readItemLayer(item) ?? ''} is told, in about ${estimateItemTokens(item)} tokens.`
  return { did: 'added', why: 'layer-told', detail }
}

function groupByIndex(
  messages: readonly PositionedMessage[],
  items: readonly Item[],
  findRoundStart: (round: number) => number | undefined,
): ReadonlyMap<number, readonly Item[]> {
  const head = countItemsBeforeFirstTurn(items)
  const insertionPoints = findInsertionPoints(items)
  const latestRoundStart = findRoundStarts(items).at(-1) ?? items.length
  const findIndex = (position: PositionedMessage['position']): number | null => {
    if (position === 'head') return head
    const start = position === 'latest' ? latestRoundStart : findRoundStart(position)
    // The prompt lacks this round, e.g. in a transform of the conversation's first part.
    if (start === undefined) return null
    let index = Math.max(head, start)
    // Moves to the next insertion point, so that a call and its output stay together.
    while (index < items.length && insertionPoints[index] !== true) index += 1
    return index
  }
  const messagesByIndex = new Map<number, Item[]>()
  for (const { position, message } of messages.toSorted(
    (a, b) => getSortKey(a.position) - getSortKey(b.position),
  )) {
    const index = findIndex(position)
    if (index === null) continue
    const messagesAtIndex = messagesByIndex.get(index)
    if (messagesAtIndex === undefined) messagesByIndex.set(index, [message])
    else messagesAtIndex.push(message)
  }
  return messagesByIndex
}

function getSortKey(position: PositionedMessage['position']): number {
  if (position === 'head') return 0
  return position === 'latest' ? Infinity : position
}

function findConversationRounds(conversation: readonly Item[] | null): readonly number[] | null {
  return conversation === null ? null : findRoundStarts(conversation)
}

/** Returns the index of the first item whose original position is at least `start`. */
function findFirstIndexFrom(
  start: number | undefined,
  originalPositions: OriginalPositions,
): number | undefined {
  if (start === undefined) return undefined
  const index = originalPositions.findIndex((position) => position !== null && position >= start)
  return index < 0 ? undefined : index
}
