/**
 * Inserts each text of the policy field `notes.entries` once, `depth` messages before the end: `depth: 1` puts it
 * before the last message, and a large depth directly after the leading instructions. If the text would separate a call
 * from its output there, for example, it is inserted at another position nearby.
 *
 * While tools run, the model's items of the current round are not counted. The text thus keeps its position until the
 * round is over, and the reasoning after it stays valid. The next message moves the text, which changes the prompt from
 * the old position on.
 *
 * The transform runs after all windows and limits, because they would count the text as part of the conversation. It
 * runs before `keep-valid-reasoning`, because that transform must see the final list.
 *
 * The texts belong to one request: they are neither stored nor summarized.
 */
import { INSERTED_INSTRUCTION_FIELDS } from '../core/items/leading-instructions.ts'
import type { Item, Message } from '../core/item.ts'
import { readGatewayFields } from '../core/items/gateway-fields.ts'
import type { PolicyText } from '../core/context-policy.ts'
import { countItemsBeforeFirstRound } from '../core/items/rounds-and-pinned-items.ts'
import { findInsertionPoints } from './insertion-points.ts'
import { isNonAssistantMessage } from './cut-points.ts'
import type { Transform } from './transform-interface.ts'

export function insertPolicyTexts(entries: readonly PolicyText[]): Transform {
  const texts = entries.map((entry) => ({ depth: entry.depth, message: createMessage(entry) }))
  return {
    name: 'place-notes',
    prefixChanges: 'permanent',
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

function createMessage({ text, role }: PolicyText): Message {
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

function insertTexts(
  items: readonly Item[],
  texts: readonly { readonly depth: number; readonly message: Message }[],
): readonly Item[] {
  const head = countItemsBeforeFirstRound(items)
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
 * Returns the index from which `depth` is counted back. While tools run (the last item is no message), this is the
 * index after the last message that is not from the assistant, so that the text keeps its position. Otherwise it is the
 * length of the list.
 */
function findConversationEnd(items: readonly Item[]): number {
  const isOpen = items.length > 0 && items.at(-1)?.type !== 'message'
  const lastInput = isOpen ? items.findLastIndex(isNonAssistantMessage) : -1
  return lastInput >= 0 ? lastInput + 1 : items.length
}

/**
 * Returns the index at which a text with this `depth` is inserted. `allowed[index]` is true if a message may be
 * inserted there. The result has `depth` messages after it if such an index is allowed. Otherwise it is the next later
 * allowed index, or else the next earlier one. If the list has no more than `depth` messages, the result is `head`.
 */
function findPosition(
  depth: number,
  messages: readonly number[],
  { head, end, allowed }: { head: number; end: number; allowed: readonly boolean[] },
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
