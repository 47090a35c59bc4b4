/**
 * Makes one message of several that one author has written in a row. They are joined with line
 * breaks; what the single ones were called is kept with the message. Only text is joined: where
 * there are media, tools, something pinned, a reset, or anything that only one wire understands (a
 * cache breakpoint, for one), the run ends, and so it does where another day begins (in UTC).
 *
 * Only the last run can grow, so what stands before it stays as it was sent.
 */
import type { Item, Message } from '../../core/item.ts'
import { textOfPart } from '../../core/item.ts'
import {
  authorOf,
  readGatewayField,
  sentAtOf,
  setGatewayField,
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
      const kept: Item[] = []
      const notes: Note[] = []
      let at = 0
      while (at < items.length) {
        const run = runFrom(items, at)
        const first = items[at]
        if (first !== undefined) kept.push(run.length < 2 ? first : merged(run))
        if (run.length > 1) {
          notes.push({ did: 'changed', at, why: 'merged-run' })
          for (let more = 1; more < run.length; more += 1) {
            notes.push({ did: 'dropped', at: at + more, why: 'merged-run' })
          }
        }
        at += Math.max(1, run.length)
      }
      return notes.length === 0 ? { items, notes } : { items: kept, notes }
    },
  }
}

/** All that is joined with the item there; empty if that can be joined with nothing. */
function runFrom(items: readonly Item[], start: number): readonly Message[] {
  const run: Message[] = []
  let before: Speech | null = null
  for (let at = start; at < items.length; at += 1) {
    const item = items[at]
    const speech = item === undefined ? null : speechOf(item)
    if (speech === null || (before !== null && !goesOn(before, speech))) break
    run.push(speech.message)
    before = speech
  }
  return run
}

interface Speech {
  readonly message: Message
  readonly author: ItemAuthor
  readonly day: number | null
}

/** `null` for what stands alone. */
function speechOf(item: Item): Speech | null {
  const author = authorOf(item)
  if (author === null || item.type !== 'message') return null
  const { role, phase, origin, content } = item
  if (role !== 'user' && role !== 'assistant') return null
  if (phase !== undefined || origin !== undefined || isPinnedByClient(item)) return null
  if (!isPlainText(content) || saysMore(item)) return null
  const sentAt = sentAtOf(item)
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

/** Whether a wire knows of it more than who speaks. */
function saysMore({ native = {} }: Message): boolean {
  return Object.entries(native).some(
    ([wire, said = {}]) =>
      wire !== 'backstory' &&
      (wire !== 'chat' || Object.keys(said).some((field) => field !== 'name')),
  )
}

function goesOn(before: Speech, next: Speech): boolean {
  return (
    before.message.role === next.message.role &&
    before.author.id === next.author.id &&
    before.author.name === next.author.name &&
    before.day === next.day &&
    readGatewayField(next.message)?.['reset'] === undefined
  )
}

function merged(run: readonly Message[]): Message {
  const [first] = run
  if (first === undefined) throw new Error('A run has a beginning.')
  const { id: _id, status: _status, ...whole } = first
  const text = run
    .map(({ content }) => content.map((part) => textOfPart(part)).join('\n'))
    .join('\n')
  const type = first.role === 'assistant' ? 'output_text' : 'input_text'
  const ids = run.flatMap(({ id }) => (id === undefined ? [] : [id]))
  const message: Message = { ...whole, content: [{ type, text }] }
  return ids.length === 0 ? message : setGatewayField(message, { ids })
}
