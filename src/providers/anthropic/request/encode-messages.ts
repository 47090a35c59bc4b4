/**
 * The conversation as entries: content blocks in their order, each with the role of the message that
 * it will be part of. Neighbours of one role become one message later, so that roles alternate by
 * themselves.
 *
 * The law that shapes this is that every tool_use is answered by a tool_result in the very next
 * message, in front of anything else (facts: `tool_use` ids were found without `tool_result` blocks
 * immediately after).
 */
import { findConsecutiveAnswers } from '../../../core/items/find-consecutive-answers.ts'
import { isToolCall, isToolOutput, type Item, type ToolOutput } from '../../../core/item.ts'
import { encodeAssistantItem } from './encode-assistant-message.ts'
import { encodeParts, createTextBlock } from './encode-parts.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { pairToolCalls, type ToolCallPairs } from './pair-tool-calls.ts'
import type { ModelTraits } from '../model-traits.ts'
import {
  isThinking,
  type ContentBlock,
  type BlockEntry,
  type RequestEntries,
} from '../api-types.ts'

/** `start` is the place of the first item that is not leading instructions. */
export function encodeMessages(
  items: readonly Item[],
  start: number,
  traits: ModelTraits,
  notebook: NoteCollector,
): readonly RequestEntries[] {
  const pairs = pairToolCalls(items, notebook)
  const borders = new Set(findConsecutiveAnswers(items))
  let entries: BlockEntry[] = []
  const stretches = [entries]
  let at = start
  while (at < items.length) {
    const item = items[at]
    if (item === undefined) break
    if (borders.has(at)) stretches.push((entries = []))
    if (isAssistants(item)) {
      const end = endOfRun(items, at, borders)
      entries.push(...encodeRun({ items, from: at, end, pairs, traits, notebook }))
      at = end
      continue
    }
    if (item.type === 'message') entries.push(...encodeInput(item, at, notebook))
    else if (!pairs.answers.has(at)) notebook.write('output-without-call', { at })
    at += 1
  }
  return stretches
}

function isAssistants(item: Item): boolean {
  return item.type === 'message' ? item.role === 'assistant' : !isToolOutput(item)
}

function endOfRun(items: readonly Item[], from: number, borders: ReadonlySet<number>): number {
  let end = from + 1
  while (end < items.length && !borders.has(end)) {
    const item = items[end]
    if (item === undefined || !isAssistants(item)) break
    end += 1
  }
  return end
}

function encodeInput(
  { role, content }: Extract<Item, { readonly type: 'message' }>,
  at: number,
  notebook: NoteCollector,
): readonly BlockEntry[] {
  const entries = encodeParts(content, at, notebook).map((block): BlockEntry => ({
    role: 'user',
    at,
    block,
  }))
  if (role === 'user') return entries
  notebook.write('system-in-place', { at })
  return entries.map((entry) => ({ ...entry, block: tagged(entry.block) }))
}

function tagged(block: ContentBlock): ContentBlock {
  return typeof block['text'] === 'string'
    ? createTextBlock(`<system>\n${block['text']}\n</system>`)
    : block
}

interface Run {
  readonly items: readonly Item[]
  readonly from: number
  readonly end: number
  readonly pairs: ToolCallPairs
  readonly traits: ModelTraits
  readonly notebook: NoteCollector
}

/** What the model said in one go, then the outputs of its calls, then media that it cannot hold. */
function encodeRun(run: Run): readonly BlockEntry[] {
  const { items, from, end, pairs, traits, notebook } = run
  const spoken: BlockEntry[] = []
  const moved: BlockEntry[] = []
  const results: BlockEntry[] = []
  for (let at = from; at < end; at++) {
    const item = items[at]
    if (item === undefined) continue
    if (isToolCall(item)) {
      if (item.name === '') {
        notebook.write('call-without-name', { at })
        continue
      }
      results.push(resultOf(run, at))
    }
    const id = pairs.idOf.get(at) ?? ''
    for (const entry of encodeAssistantItem(item, { at, id, traits, notebook })) {
      ;(entry.role === 'assistant' ? spoken : moved).push(entry)
    }
  }
  return [...callsLast(spoken), ...results, ...moved]
}

/** A turn of this provider is in its own order already, and its thinking is bound to that. */
function callsLast(entries: readonly BlockEntry[]): readonly BlockEntry[] {
  const isBound = entries.some(({ block }) => isThinking(block))
  const firstCall = entries.findIndex(isToolUse)
  if (isBound || firstCall === -1 || entries.slice(firstCall).every(isToolUse)) return entries
  return [...entries.filter((entry) => !isToolUse(entry)), ...entries.filter(isToolUse)]
}

function isToolUse({ block }: BlockEntry): boolean {
  return block['type'] === 'tool_use'
}

function resultOf({ items, end, pairs, notebook }: Run, call: number): BlockEntry {
  const id = pairs.idOf.get(call) ?? ''
  const at = pairs.outputOf.get(call)
  const output = at === undefined ? undefined : items[at]
  if (at === undefined || output === undefined || !isToolOutput(output)) {
    notebook.write('output-missing', { at: call })
    return { role: 'user', at: call, block: missing(id) }
  }
  if (pairs.apart(end, at)) notebook.write('output-moved', { at })
  return { role: 'user', at, block: toolResult(id, output, at, notebook) }
}

function missing(id: string): ContentBlock {
  const content = 'There is no result: the call was not completed.'
  return { type: 'tool_result', tool_use_id: id, content, is_error: true }
}

function toolResult(
  id: string,
  output: ToolOutput,
  at: number,
  notebook: NoteCollector,
): ContentBlock {
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...contentOf(output, at, notebook),
    ...(isError(output) ? { is_error: true } : {}),
  }
}

function contentOf({ output }: ToolOutput, at: number, notebook: NoteCollector): ContentBlock {
  if (typeof output === 'string') return output.trim() === '' ? {} : { content: output }
  const content = encodeParts(output, at, notebook).filter((block) => block['text'] !== '')
  return content.length === 0 ? {} : { content }
}

/** No word of the waist: a client of this wire's own vocabulary may have set the field. */
function isError(output: ToolOutput): boolean {
  const own = 'is_error' in output ? output.is_error : output.native?.['anthropic']?.['is_error']
  return own === true
}
