/**
 * Inserts each text of the policy's `notes.entries` once, `depth` messages before the end: `depth: 1`
 * puts it before the last message. A depth beyond the beginning puts it directly after the head. A text
 * never separates items that belong together; it moves to the next position that does not.
 *
 * During a round, the model's items of that round are not counted. The text then keeps its position until the
 * round is over, and the reasoning after it stays valid. The next message moves the text, which changes the
 * prompt from the old position on. The transform therefore runs after all cuts, which would count the text,
 * and before `keep-valid-reasoning`, which reads the final list.
 *
 * The texts belong to one request: they are neither stored nor summarized.
 */
import { INSERTED_INSTRUCTION_FIELDS } from '../core/items/leading-instructions.ts'
import type { Item, Message } from '../core/item.ts'
import { readGatewayFields } from '../core/items/author-time-and-reset-fields.ts'
import type { PolicyText } from '../core/context-policy.ts'
import { countItemsBeforeFirstTurn } from '../core/items/rounds-and-pinned-items.ts'
import { findInsertionPoints } from './insertion-points.ts'
import { isNonAssistantMessage } from './cut-points.ts'
import type { Transform } from './transform-interface.ts'

export function insertPolicyTexts(entries: readonly PolicyText[]): Transform {
  const texts = entries.map(({ depth, ...entry }) => ({ depth, message: createMessage(entry) }))
  return {
    name: 'place-notes',
    prefixStability: 'lasting',
    run(items) {
      const others = items.some(isPolicyText) ? items.filter((item) => !isPolicyText(item)) : items
      const result = insertTexts(others, texts)
      if (isSameList(result, items)) return { items, notes: [] }
      return {
        items: result,
        notes: [
          ...items.flatMap((item, at) =>
            isPolicyText(item) ? [{ did: 'dropped' as const, at, why: 'note-moved' }] : [],
          ),
          ...texts.map(() => ({ did: 'added' as const, why: 'context-note' })),
        ],
      }
    },
  }
}

interface TextAtDepth {
  readonly depth: number
  readonly message: Message
}

function createMessage({ text, role }: Pick<PolicyText, 'text' | 'role'>): Message {
  return {
    type: 'message',
    role,
    content: [{ type: 'input_text', text }],
    native: { backstory: { note: true, ...INSERTED_INSTRUCTION_FIELDS } },
  }
}

function isPolicyText(item: Item): boolean {
  return readGatewayFields(item)?.['note'] === true
}

function insertTexts(items: readonly Item[], texts: readonly TextAtDepth[]): readonly Item[] {
  const head = countItemsBeforeFirstTurn(items)
  const allowed = findInsertionPoints(items)
  const end = findConversationEnd(items)
  const messages: number[] = []
  for (let index = head; index < end; index += 1) {
    if (items[index]?.type === 'message') messages.push(index)
  }
  const inserted = Map.groupBy(texts, ({ depth }) =>
    findPosition(depth, messages, { head, end, allowed }),
  )
  const insertedAt = (index: number) => inserted.get(index)?.map(({ message }) => message) ?? []
  return items
    .flatMap((item, index) => [...insertedAt(index), item])
    .concat(insertedAt(items.length))
}

/**
 * While tools run, returns the index after the last message that is not the assistant's, be it a question or
 * an instruction after one. Otherwise returns the length of the list.
 */
function findConversationEnd(items: readonly Item[]): number {
  const isOpen = items.length > 0 && items.at(-1)?.type !== 'message'
  const lastInput = isOpen ? items.findLastIndex(isNonAssistantMessage) : -1
  return lastInput >= 0 ? lastInput + 1 : items.length
}

interface PositionLimits {
  readonly head: number
  readonly end: number
  readonly allowed: readonly boolean[]
}

/** Returns the position for a text: preferably with `depth` messages after it, else a later, else an earlier one. */
function findPosition(
  depth: number,
  messages: readonly number[],
  { head, end, allowed }: PositionLimits,
): number {
  const messagesBefore = messages.length - depth
  if (depth > 0 && messagesBefore <= 0) return head
  const target = depth === 0 ? end : (messages[messagesBefore] ?? head)
  const min = (messages[messagesBefore - 1] ?? head - 1) + 1
  const isFree = (index: number): boolean => allowed[index] === true
  for (let index = target; index >= min; index -= 1) if (isFree(index)) return index
  for (let index = target + 1; index < allowed.length; index += 1) if (isFree(index)) return index
  for (let index = min - 1; index > head; index -= 1) if (isFree(index)) return index
  return head
}

function isSameList(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index])
}
