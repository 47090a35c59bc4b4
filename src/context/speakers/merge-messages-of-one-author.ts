/**
 * Merges consecutive messages of one author into one message, joined by line breaks. The ids of the original messages
 * are recorded in the merged one. Only plain text of the same day (UTC) is merged. A message with media, a pin or a
 * field that only one wire understands (e.g. a cache breakpoint) stays separate, and so does an answer that the gateway
 * has recorded. A message with a reset is not merged with the message before it.
 *
 * Only the last merged message can still grow, so earlier messages are sent unchanged.
 */
import { type Item, type Message, textOfPart } from '../../core/item.ts'
import {
  readClientGivenAuthor,
  readGatewayFields,
  readSendTime,
  setGatewayFields,
  type ItemAuthor,
} from '../../core/items/gateway-fields.ts'
import { editItems } from '../edit-items.ts'
import { isPinnedByClient } from '../../core/items/rounds-and-pinned-items.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export function mergeMessagesOfOneAuthor(): Transform {
  return {
    name: 'merge-runs',
    requiredTraits: ITEM_TRAITS.author,
    prefixChanges: 'never',
    run(items) {
      let mergedEnd = 0
      return editItems(items, (_, index) => {
        if (index < mergedEnd) return { replacement: null, why: 'merged-run' }
        const group = listMergeable(items, index)
        if (group.length < 2) return null
        mergedEnd = index + group.length
        return { replacement: mergeMessages(group), why: 'merged-run' }
      })
    },
  }
}

/**
 * Lists the consecutive messages from `start` on that become one message. Empty if the item at `start` cannot be
 * merged.
 */
function listMergeable(items: readonly Item[], start: number): readonly Message[] {
  const group: Message[] = []
  let previous: MergeableMessage | null = null
  for (let index = start; index < items.length; index += 1) {
    const item = items[index]
    const next = item === undefined ? null : readMergeable(item)
    if (next === null || (previous !== null && !canMerge(previous, next))) break
    group.push(next.message)
    previous = next
  }
  return group
}

interface MergeableMessage {
  readonly message: Message
  readonly author: ItemAuthor
  /** The day on which the message was sent, in days since 1970; `null` if the client sent no time. */
  readonly day: number | null
}

/** Returns the message with its author and the day on which it was sent, or `null` for an item that is never merged. */
function readMergeable(item: Item): MergeableMessage | null {
  const author = readClientGivenAuthor(item)
  if (author === null || item.type !== 'message') return null
  const { role, phase, origin, content } = item
  if (role !== 'user' && role !== 'assistant') return null
  if (phase !== undefined || origin !== undefined || isPinnedByClient(item)) return null
  if (!isPlainText(content) || hasWireFields(item)) return null
  const sentAt = readSendTime(item)
  return { message: item, author, day: sentAt === null ? null : Math.floor(sentAt / 86_400) }
}

function isPlainText(content: Message['content']): boolean {
  return (
    content.length > 0 &&
    content.every(
      (part) =>
        (part.type === 'input_text' || part.type === 'output_text') &&
        part.text !== '' &&
        (part.annotations ?? []).length === 0 &&
        (part.logprobs ?? []).length === 0,
    )
  )
}

/** True if the message has a wire-specific field other than the author's name. */
function hasWireFields({ native = {} }: Message): boolean {
  return Object.entries(native).some(
    ([wire, fields = {}]) =>
      wire !== 'backstory' &&
      (wire !== 'chat' || Object.keys(fields).some((field) => field !== 'name')),
  )
}

function canMerge(previous: MergeableMessage, next: MergeableMessage): boolean {
  return (
    previous.message.role === next.message.role &&
    previous.author.id === next.author.id &&
    previous.author.name === next.author.name &&
    previous.day === next.day &&
    readGatewayFields(next.message)?.['reset'] === undefined
  )
}

function mergeMessages(group: readonly Message[]): Message {
  const [first] = group
  if (first === undefined) throw new Error('There are no messages to merge.')
  const { id: _id, status: _status, ...rest } = first
  const text = group.flatMap(({ content }) => content.map((part) => textOfPart(part))).join('\n')
  const type = first.role === 'assistant' ? 'output_text' : 'input_text'
  const ids = group.flatMap(({ id }) => (id === undefined ? [] : [id]))
  const message: Message = { ...rest, content: [{ type, text }] }
  return ids.length === 0 ? message : setGatewayFields(message, { ids })
}
