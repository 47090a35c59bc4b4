/**
 * Groups items for encoding. A group is either one message that is not the assistant's, or an
 * assistant message with its reasoning and its tool calls, each with its output, which becomes a
 * `tool` message. Marks where the model continued its own answer. Writes a note for items that Chat
 * Completions does not have.
 */
import {
  type Item,
  type Message,
  type Reasoning,
  type ToolCall,
  type ToolOutput,
  isToolOutput,
} from '../../../core/item.ts'
import { textOrEmpty } from '../../../core/json/json.ts'
import { UNPAIRED, findToolCallPairs } from '../../../core/items/tool-call-pairs.ts'
import type { ChatNotes } from '../encoding-notes.ts'

export interface PositionedItem<One> {
  /** The index of the item in the prompt. */
  readonly itemIndex: number
  readonly item: One
}

export interface CallWithOutput extends PositionedItem<ToolCall> {
  readonly output: PositionedItem<ToolOutput> | null
}

export type MessageGroup =
  | { readonly type: 'input'; readonly itemIndex: number; readonly item: Message }
  | {
      readonly type: 'assistant'
      readonly reasoning: readonly PositionedItem<Reasoning>[]
      readonly message: PositionedItem<Message> | null
      readonly calls: readonly CallWithOutput[]
    }
  /** Marks the position at which the model continued its own answer. */
  | { readonly type: 'continued' }

interface OpenGroup {
  readonly type: 'assistant'
  readonly reasoning: PositionedItem<Reasoning>[]
  message: PositionedItem<Message> | null
  readonly calls: CallWithOutput[]
}

/**
 * Groups the items. `continuations` contains the index of the first item of each answer that
 * continues the answer before it.
 */
export function groupItemsIntoMessages(
  items: readonly Item[],
  continuations: ReadonlySet<number>,
  notes: ChatNotes,
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

  for (const [itemIndex, item] of items.entries()) {
    const partner = partners[itemIndex] ?? UNPAIRED
    if (continuations.has(itemIndex)) {
      close()
      groups.push({ type: 'continued' })
    }
    switch (item.type) {
      case 'message':
        if (item.role !== 'assistant') {
          close()
          groups.push({ type: 'input', itemIndex, item })
          break
        }
        if (getOpenGroup().message !== null) close()
        if (getOpenGroup().calls.length > 0) notes.write('text-moved', { itemIndex })
        getOpenGroup().message = { itemIndex, item }
        break
      case 'reasoning':
        if (startsNextMessage(openGroup, items, continuations, itemIndex)) close()
        getOpenGroup().reasoning.push({ itemIndex, item })
        break
      case 'function_call':
      case 'custom_tool_call':
        getOpenGroup().calls.push({ itemIndex, item, output: findOutput(items, partner) })
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        close()
        if (partner === UNPAIRED) notes.write('output-without-call', { itemIndex })
        else if (hasInputMessageBetween(items, partner, itemIndex))
          notes.write('output-moved', { itemIndex })
        break
      case 'opaque':
        notes.write('hosted-item', { itemIndex, detail: textOrEmpty(item.raw['type']) })
    }
  }
  close()
  return groups
}

function closeGroup(group: OpenGroup, groups: MessageGroup[], notes: ChatNotes): void {
  if (group.message !== null || group.calls.length > 0) groups.push(group)
  else
    for (const { itemIndex } of group.reasoning)
      notes.write('reasoning-without-follower', { itemIndex })
}

/**
 * True if the reasoning at `itemIndex` begins a new assistant message: the open group already has
 * its message, and the next item after the reasoning is an assistant message. Reasoning before a
 * tool call belongs to the open group.
 */
function startsNextMessage(
  openGroup: OpenGroup | null,
  items: readonly Item[],
  continuations: ReadonlySet<number>,
  itemIndex: number,
): boolean {
  if (openGroup === null || openGroup.message === null) return false
  for (let next = itemIndex + 1; next < items.length && !continuations.has(next); next++) {
    const item = items[next]
    if (item === undefined || item.type === 'reasoning' || item.type === 'opaque') continue
    return item.type === 'message' && item.role === 'assistant'
  }
  return false
}

function findOutput(items: readonly Item[], itemIndex: number): PositionedItem<ToolOutput> | null {
  const item = items[itemIndex]
  return item !== undefined && isToolOutput(item) ? { itemIndex, item } : null
}

function hasInputMessageBetween(items: readonly Item[], call: number, output: number): boolean {
  return items
    .slice(call + 1, output)
    .some((item) => item.type === 'message' && item.role !== 'assistant')
}
