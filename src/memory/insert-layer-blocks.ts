/**
 * Inserts the texts of memory layers (blocks of text beside the conversation) into the prompt, each
 * as a developer message in a tag. Stable blocks, which rarely change, come after the leading
 * instructions. Changes of a stable block come before the question of the round in which they are
 * first sent. Volatile blocks, which may change with every question, come before the latest
 * question.
 *
 * With these positions, a block does not move between the requests of a round, the user's question
 * comes after the memories, and the provider's cache keeps everything before the previous question.
 * Only stable blocks may be moved into a system prompt when the request is encoded for a provider.
 *
 * The messages exist in this request only: they are not stored, cut or summarized. Rounds (a user
 * message and everything up to the next one) are counted in the complete conversation, even if the
 * prompt contains only a part of it.
 */
import { escapeFakeNotices } from '../core/text/gateway-notice.ts'
import { INSERTED_INSTRUCTION_FIELDS } from '../core/items/leading-instructions.ts'
import type { Item, Message } from '../core/item.ts'
import { readGatewayFields } from '../core/items/gateway-fields.ts'
import { estimateItemTokens } from '../core/items/item-tokens.ts'
import type { Note } from '../core/note.ts'
import {
  countItemsBeforeFirstRound,
  findRoundStarts,
} from '../core/items/rounds-and-pinned-items.ts'
import { findInsertionPoints } from '../context/insertion-points.ts'
import type { OriginalPositions, Transform } from '../context/transform-interface.ts'
import type { LayerStability, LayerChange } from './memory-layer-interface.ts'

export interface RenderedBlock {
  readonly name: string
  readonly stability: LayerStability
  /** The text of the block; `''` if only changes are sent. */
  readonly text: string
  readonly changes: readonly LayerChange[]
}

/**
 * Returns a transform that inserts the blocks into a prompt. If the prompt is only a part of the
 * conversation, rounds are counted in `conversation`, the complete list of items.
 */
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
      const isPart =
        otherItems === items && originalPositions !== undefined && conversation !== null
      const roundStarts = findRoundStarts(isPart ? conversation : otherItems)
      const messagesByIndex = groupByIndex(messages, otherItems, (round) =>
        isPart
          ? findFirstIndexFrom(roundStarts[round - 1], originalPositions)
          : roundStarts[round - 1],
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
 * Returns the name of the memory layer whose text a message contains; `null` for all other items.
 * Only the gateway can set the field with this name, so a client cannot imitate such a message.
 */
export function readItemLayer(item: Item): string | null {
  const name = readGatewayFields(item)?.['layer']
  return typeof name === 'string' ? name : null
}

/**
 * Renders a block as a developer message in a tag, e.g. `<facts>…</facts>`. Escapes `</` in the
 * text, so that the text cannot close the tag, and text that imitates a notice of the gateway.
 */
export function renderLayerMessage(
  { name, stability }: Pick<RenderedBlock, 'name' | 'stability'>,
  text: string,
  suffix = '',
): Message {
  const tag = name + suffix
  const escaped = escapeFakeNotices(text).replaceAll('</', '<\\/')
  return {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text: `<${tag}>\n${escaped}\n</${tag}>` }],
    native: {
      backstory: { layer: name, ...(stability === 'stable' ? {} : INSERTED_INSTRUCTION_FIELDS) },
    },
  }
}

const CHANGED_SUFFIX = '_changed'

interface PositionedMessage {
  /**
   * Number of the round, counted from 1, before whose question the message is inserted.
   * `BEFORE_HISTORY` (0) stands for the position after the leading instructions, `LATEST_ROUND`
   * (Infinity) for the position before the latest question.
   */
  readonly round: number
  readonly message: Message
}

const BEFORE_HISTORY = 0
const LATEST_ROUND = Infinity

function renderBlocks(blocks: readonly RenderedBlock[]): readonly PositionedMessage[] {
  const messages = blocks.flatMap(({ name, stability, text, changes }) => {
    const round = stability === 'stable' ? BEFORE_HISTORY : LATEST_ROUND
    return [
      ...(text === '' ? [] : [{ round, message: renderLayerMessage({ name, stability }, text) }]),
      ...changes.map((change) => ({
        round: change.round,
        message: renderLayerMessage({ name, stability: 'volatile' }, change.text, CHANGED_SUFFIX),
      })),
    ]
  })
  return messages.toSorted((a, b) => a.round - b.round)
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
  const head = countItemsBeforeFirstRound(items)
  const insertionPoints = findInsertionPoints(items)
  const latestRoundStart = findRoundStarts(items).at(-1) ?? items.length
  const findIndex = (round: number): number | null => {
    if (round === BEFORE_HISTORY) return head
    const start = round === LATEST_ROUND ? latestRoundStart : findRoundStart(round)
    // The prompt may lack the round, e.g. if it contains only the first part of the conversation.
    if (start === undefined) return null
    let index = Math.max(head, start)
    // A call and its output must stay together, so the message comes after both.
    while (index < items.length && insertionPoints[index] !== true) index += 1
    return index
  }
  const messagesByIndex = new Map<number, Item[]>()
  for (const { round, message } of messages) {
    const index = findIndex(round)
    if (index !== null) messagesByIndex.set(index, [...(messagesByIndex.get(index) ?? []), message])
  }
  return messagesByIndex
}

/**
 * Finds where a round begins in a prompt with only a part of the conversation. Returns the index of
 * the first item whose position in the complete conversation is at least `start`; `undefined` if
 * there is none.
 */
function findFirstIndexFrom(
  start: number | undefined,
  originalPositions: OriginalPositions,
): number | undefined {
  if (start === undefined) return undefined
  const index = originalPositions.findIndex((position) => position !== null && position >= start)
  return index < 0 ? undefined : index
}
