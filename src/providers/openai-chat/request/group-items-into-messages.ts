/**
 * The items of a conversation as the messages they will become: what stands for itself, and the
 * assistant's words with the calls that go with them and the outputs that answer these. No message
 * reaches over a place where an answer went on with another. Items that have no place among chat
 * messages are left out with a note.
 */
import type { Item, Message, Reasoning, ToolCall, ToolOutput } from '../../../core/item.ts'
import { textOrEmpty } from '../../../core/json/json.ts'
import { UNPAIRED, findToolCallPairs } from '../../../core/items/tool-call-pairs.ts'
import type { NoteCollector } from '../encoding-notes.ts'

export interface PositionedItem<One> {
  readonly at: number
  readonly item: One
}

export interface CallWithOutput extends PositionedItem<ToolCall> {
  readonly output: PositionedItem<ToolOutput> | null
}

export type MessageGroup =
  | { readonly type: 'said'; readonly at: number; readonly item: Message }
  | {
      readonly type: 'assistant'
      readonly reasoning: readonly PositionedItem<Reasoning>[]
      readonly message: PositionedItem<Message> | null
      readonly calls: readonly CallWithOutput[]
    }
  /** The answer before it was gone on with. */
  | { readonly type: 'continued' }

interface OpenGroup {
  readonly type: 'assistant'
  readonly reasoning: PositionedItem<Reasoning>[]
  message: PositionedItem<Message> | null
  readonly calls: CallWithOutput[]
}

/** `borders` are the places before which an answer went on with another. */
export function groupItemsIntoMessages(
  items: readonly Item[],
  borders: ReadonlySet<number>,
  notebook: NoteCollector,
): readonly MessageGroup[] {
  const partners = findToolCallPairs(items)
  const turns: MessageGroup[] = []
  let open: OpenGroup | null = null
  const opened = (): OpenGroup =>
    (open ??= { type: 'assistant', reasoning: [], message: null, calls: [] })
  const close = (): void => {
    if (open !== null) closeGroup(open, turns, notebook)
    open = null
  }

  for (const [at, item] of items.entries()) {
    if (borders.has(at)) {
      close()
      turns.push({ type: 'continued' })
    }
    switch (item.type) {
      case 'message':
        if (item.role !== 'assistant') {
          close()
          turns.push({ type: 'said', at, item })
          break
        }
        if (opened().message !== null) close()
        if (opened().calls.length > 0) notebook.write('text-moved', { at })
        opened().message = { at, item }
        break
      case 'reasoning':
        if (startsNextMessage(open, items, borders, at)) close()
        opened().reasoning.push({ at, item })
        break
      case 'function_call':
      case 'custom_tool_call':
        opened().calls.push({ at, item, output: findOutput(items, partners[at] ?? UNPAIRED) })
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        close()
        if (partners[at] === UNPAIRED) notebook.write('output-without-call', { at })
        else if (hasInputMessageBetween(items, partners[at] ?? UNPAIRED, at)) {
          notebook.write('output-moved', { at })
        }
        break
      case 'opaque':
        notebook.write('hosted-item', { at, detail: textOrEmpty(item.raw['type']) })
    }
  }
  close()
  return turns
}

function closeGroup(open: OpenGroup, turns: MessageGroup[], notebook: NoteCollector): void {
  if (open.message !== null || open.calls.length > 0) turns.push(open)
  else for (const { at } of open.reasoning) notebook.write('reasoning-without-follower', { at })
}

/** Reasoning behind a message begins the next one, unless it is only calls that follow. */
function startsNextMessage(
  open: OpenGroup | null,
  items: readonly Item[],
  borders: ReadonlySet<number>,
  at: number,
): boolean {
  if (open === null || open.message === null) return false
  for (let next = at + 1; next < items.length && !borders.has(next); next++) {
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

/** Whether somebody else spoke between a call and its output. */
function hasInputMessageBetween(items: readonly Item[], call: number, output: number): boolean {
  for (let at = call + 1; at < output; at++) {
    const item = items[at]
    if (item?.type === 'message' && item.role !== 'assistant') return true
  }
  return false
}
