/**
 * Tells each note at its distance from the end, once: with `depth` messages behind it, deeper than
 * all of them in front of the first one behind the head. Where it would part what belongs together
 * it stands at the next place where it does not.
 *
 * The end is that of what has been said. While a turn runs, what the model does in it is not counted,
 * so that a note keeps its place, and the reasoning behind it stays valid, until the turn is over.
 * With the next message a note moves: what stands before it stays as it was sent, what stands behind
 * it does not. Hence it comes after all cuts, which would count it, and before
 * `keep-valid-reasoning`, which has to see the list as it is sent.
 *
 * Notes are of the request that is made. They are not kept, and not part of what is summed up.
 */
import { INSERTED_INSTRUCTION_FIELD } from '../core/items/leading-instructions.ts'
import type { Item, Message } from '../core/item.ts'
import { readGatewayField } from '../core/items/author-time-and-reset-fields.ts'
import type { PolicyText } from '../core/context-policy.ts'
import { countHeadItems } from '../core/items/rounds-and-pinned-items.ts'
import { findInsertionPoints } from './insertion-points.ts'
import { isNonAssistantMessage } from './cut-points.ts'
import type { Transform } from './transform-interface.ts'

export function insertPolicyTexts(entries: readonly PolicyText[]): Transform {
  const notes = entries.map(({ depth, ...note }) => ({ depth, message: noteMessage(note) }))
  return {
    name: 'place-notes',
    prefixStability: 'lasting',
    run(items) {
      const others = items.some(isNote) ? items.filter((item) => !isNote(item)) : items
      const placed = withNotes(others, notes)
      if (isSameList(placed, items)) return { items, notes: [] }
      return {
        items: placed,
        notes: [
          ...items.flatMap((item, at) =>
            isNote(item) ? [{ did: 'dropped' as const, at, why: 'note-moved' }] : [],
          ),
          ...notes.map(() => ({ did: 'added' as const, why: 'context-note' })),
        ],
      }
    },
  }
}

interface PlacedNote {
  readonly depth: number
  readonly message: Message
}

function noteMessage({ text, role }: Pick<PolicyText, 'text' | 'role'>): Message {
  return {
    type: 'message',
    role,
    content: [{ type: 'input_text', text }],
    native: { backstory: { note: true, ...INSERTED_INSTRUCTION_FIELD } },
  }
}

function isNote(item: Item): boolean {
  return readGatewayField(item)?.['note'] === true
}

function withNotes(items: readonly Item[], notes: readonly PlacedNote[]): readonly Item[] {
  const head = countHeadItems(items)
  const borders = findInsertionPoints(items)
  const end = endOfSaid(items)
  const said: number[] = []
  for (let at = head; at < end; at += 1) if (items[at]?.type === 'message') said.push(at)
  const standing = new Map<number, Item[]>()
  for (const { depth, message } of notes) {
    const place = placeAt(depth, said, { head, end, borders })
    const there = standing.get(place)
    if (there === undefined) standing.set(place, [message])
    else there.push(message)
  }
  return items
    .flatMap((item, at) => [...(standing.get(at) ?? []), item])
    .concat(standing.get(items.length) ?? [])
}

/**
 * Behind what the model was told last while tools are at work on it, be it a question or an instruction
 * that follows one; else behind everything.
 */
function endOfSaid(items: readonly Item[]): number {
  const isOpen = items.length > 0 && items.at(-1)?.type !== 'message'
  const told = isOpen ? items.findLastIndex(isNonAssistantMessage) : -1
  return told >= 0 ? told + 1 : items.length
}

interface Limits {
  readonly head: number
  readonly end: number
  readonly borders: readonly boolean[]
}

/** As far back as the message before it the number of messages behind it stays the same. */
function placeAt(depth: number, said: readonly number[], { head, end, borders }: Limits): number {
  const before = said.length - depth
  if (depth > 0 && before <= 0) return head
  const target = depth === 0 ? end : (said[before] ?? head)
  const least = (said[before - 1] ?? head - 1) + 1
  const isFree = (place: number): boolean => borders[place] === true
  for (let at = target; at >= least; at -= 1) if (isFree(at)) return at
  for (let at = target + 1; at < borders.length; at += 1) if (isFree(at)) return at
  for (let at = least - 1; at > head; at -= 1) if (isFree(at)) return at
  return head
}

function isSameList(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at])
}
