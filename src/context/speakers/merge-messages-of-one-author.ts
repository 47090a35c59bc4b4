/**
 * Merges several messages of one author in a row into one, joined by line breaks. The ids of the single
 * messages are recorded in the merged one. Only plain text is merged: a message with media, a pin, a reset or
 * a field that only one wire understands (e.g. a cache breakpoint) stays alone, and so do tool items. A new
 * day (UTC) also starts a new message.
 *
 * Only the last merged message can still grow, so everything before it is sent unchanged.
 */
import type { Item, Message } from '../../core/item.ts'
import { textOfPart } from '../../core/item.ts'
import {
  authorOf,
  readGatewayFields,
  readSendTime,
  setGatewayFields,
  type ItemAuthor,
} from '../../core/items/author-time-and-reset-fields.ts'
import type { Note } from '../../core/note.ts'
import { isPinnedByClient } from '../../core/items/rounds-and-pinned-items.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function mergeConsecutiveMessages(): Transform {
  return {
    name: 'merge-runs',
    needs: ITEM_TRAITS.author,
    prefixStability: 'none',
    run(items) {
      const result: Item[] = []
      const notes: Note[] = []
      for (let at = 0; at < items.length;) {
        const group = listMergeable(items, at)
        const first = items[at]
        if (first !== undefined) result.push(group.length < 2 ? first : mergeMessages(group))
        if (group.length > 1) {
          const changes = group.map((_, offset): Note => {
            return { did: offset === 0 ? 'changed' : 'dropped', at: at + offset, why: 'merged-run' }
          })
          notes.push(...changes)
        }
        at += Math.max(1, group.length)
      }
      return notes.length === 0 ? { items, notes } : { items: result, notes }
    },
  }
}

/** Lists the messages from `start` that can be merged; empty if the first item cannot. */
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
  /** Days since 1970; `null` if the client sent no time. */
  readonly day: number | null
}

/** Returns `null` for an item that is never merged. */
function readMergeable(item: Item): MergeableMessage | null {
  const author = authorOf(item)
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
