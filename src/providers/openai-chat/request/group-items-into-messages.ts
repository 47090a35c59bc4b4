/**
 * Groups the items of a conversation into the messages that they become: an input message alone,
 * and an assistant message with its reasoning, its tool calls and their outputs. If an answer
 * continued another one, their items are not grouped together. Writes a note for items that Chat
 * Completions has no message for.
 */
import type { Item, Message, Reasoning, ToolCall, ToolOutput } from '../../../core/item.ts'
import { textOrEmpty } from '../../../core/json/json.ts'
import { UNPAIRED, findToolCallPairs } from '../../../core/items/tool-call-pairs.ts'
import type { NoteCollector } from '../encoding-notes.ts'

export interface PositionedItem<One> {
  /** Index in the prompt's items, which notes report as `at`. */
  readonly at: number
  readonly item: One
}

export interface CallWithOutput extends PositionedItem<ToolCall> {
  readonly output: PositionedItem<ToolOutput> | null
}

export type MessageGroup =
  | { readonly type: 'input'; readonly at: number; readonly item: Message }
  | {
      readonly type: 'assistant'
      readonly reasoning: readonly PositionedItem<Reasoning>[]
      readonly message: PositionedItem<Message> | null
      readonly calls: readonly CallWithOutput[]
    }
  /** Separates an answer from the answer that continued it. */
  | { readonly type: 'continued' }

interface OpenGroup {
  readonly type: 'assistant'
  readonly reasoning: PositionedItem<Reasoning>[]
  message: PositionedItem<Message> | null
  readonly calls: CallWithOutput[]
}

/**
 * Groups the items. `continuations` are the indexes of the first items of those answers that
 * continued another answer.
 */
export function groupItemsIntoMessages(
  items: readonly Item[],
  continuations: ReadonlySet<number>,
  notes: NoteCollector,
): readonly MessageGroup[] {
  const partners = findToolCallPairs(items)
  const groups: MessageGroup[] = []
  let openGroup: OpenGroup | null = null
  const getOpenGroup = (): OpenGroup =>
    (openGroup ??= { type: 'assistant', reasoning: [], message: null, calls: [] })
  const close = (): void => {
    if (openGroup !== null) closeGroup(openGroup, groups, notes)
    openGroup = null
  }

  for (const [at, item] of items.entries()) {
    const partner = partners[at] ?? UNPAIRED
    if (continuations.has(at)) {
      close()
      groups.push({ type: 'continued' })
    }
    switch (item.type) {
      case 'message':
        if (item.role !== 'assistant') {
          close()
          groups.push({ type: 'input', at, item })
          break
        }
        if (getOpenGroup().message !== null) close()
        if (getOpenGroup().calls.length > 0) notes.write('text-moved', { at })
        getOpenGroup().message = { at, item }
        break
      case 'reasoning':
        if (startsNextMessage(openGroup, items, continuations, at)) close()
        getOpenGroup().reasoning.push({ at, item })
        break
      case 'function_call':
      case 'custom_tool_call':
        getOpenGroup().calls.push({ at, item, output: findOutput(items, partner) })
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        close()
        if (partner === UNPAIRED) notes.write('output-without-call', { at })
        else if (hasInputMessageBetween(items, partner, at)) notes.write('output-moved', { at })
        break
      case 'opaque':
        notes.write('hosted-item', { at, detail: textOrEmpty(item.raw['type']) })
    }
  }
  close()
  return groups
}

function closeGroup(group: OpenGroup, groups: MessageGroup[], notes: NoteCollector): void {
  if (group.message !== null || group.calls.length > 0) groups.push(group)
  else for (const { at } of group.reasoning) notes.write('reasoning-without-follower', { at })
}

/**
 * True if the reasoning begins a new message: it comes after a message and leads to another one.
 * Reasoning before tool calls belongs to the open message.
 */
function startsNextMessage(
  openGroup: OpenGroup | null,
  items: readonly Item[],
  continuations: ReadonlySet<number>,
  at: number,
): boolean {
  if (openGroup === null || openGroup.message === null) return false
  for (let next = at + 1; next < items.length && !continuations.has(next); next++) {
    const item = items[next]
    if (item === undefined || item.type === 'reasoning' || item.type === 'opaque') continue
    return item.type === 'message' && item.role === 'assistant'
  }
  return false
}

function findOutput(items: readonly Item[], at: number): PositionedItem<ToolOutput> | null {
  const item = items[at]
  if (item?.type !== 'function_call_output' && item?.type !== 'custom_tool_call_output') return null
  return { at, item }
}

function hasInputMessageBetween(items: readonly Item[], call: number, output: number): boolean {
  return items
    .slice(call + 1, output)
    .some((item) => item.type === 'message' && item.role !== 'assistant')
}
