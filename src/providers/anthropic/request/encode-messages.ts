/**
 * Encodes the conversation as entries: content blocks in order, each with the role of its message.
 * Adjacent entries with the same role become one message later, so roles always alternate.
 *
 * The API requires that the next message after a `tool_use` begins with its `tool_result`. It
 * rejects other requests: "`tool_use` ids were found without `tool_result` blocks immediately
 * after".
 */
import { findConsecutiveAnswers } from '../../../core/items/find-consecutive-answers.ts'
import { isToolCall, isToolOutput, type Item, type ToolOutput } from '../../../core/item.ts'
import { encodeAssistantItem } from './encode-assistant-message.ts'
import { encodeParts, createTextBlock } from './encode-parts.ts'
import type { AnthropicNotes, EncodingContext } from './encoding-context.ts'
import { pairToolCalls, type ToolCallPairs } from './pair-tool-calls.ts'
import {
  isThinking,
  type ContentBlock,
  type BlockEntry,
  type RequestSection,
} from '../api-types.ts'

/** Encodes the items from index `start`, after the leading instructions. */
export function encodeMessages(
  items: readonly Item[],
  start: number,
  context: EncodingContext,
): readonly RequestSection[] {
  const { notes } = context
  const pairs = pairToolCalls(items, notes)
  const sectionStarts = new Set(findConsecutiveAnswers(items))
  let entries: BlockEntry[] = []
  const sections = [entries]
  let at = start
  while (at < items.length) {
    const item = items[at]
    if (item === undefined) break
    if (sectionStarts.has(at)) sections.push((entries = []))
    if (isAssistantItem(item)) {
      const end = findSegmentEnd(items, at, sectionStarts)
      entries.push(...encodeSegment({ ...context, items, start: at, end, pairs }))
      at = end
      continue
    }
    if (item.type === 'message') entries.push(...encodeInput(item, at, notes))
    else if (!pairs.pairedOutputs.has(at)) notes.write('output-without-call', { at })
    at += 1
  }
  return sections
}

function isAssistantItem(item: Item): boolean {
  return item.type === 'message' ? item.role === 'assistant' : !isToolOutput(item)
}

function findSegmentEnd(
  items: readonly Item[],
  from: number,
  sectionStarts: ReadonlySet<number>,
): number {
  let end = from + 1
  while (end < items.length && !sectionStarts.has(end)) {
    const item = items[end]
    if (item === undefined || !isAssistantItem(item)) break
    end += 1
  }
  return end
}

function encodeInput(
  { role, content }: Extract<Item, { readonly type: 'message' }>,
  at: number,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  const entries = encodeParts(content, at, notes).map((block): BlockEntry => ({
    role: 'user',
    at,
    block,
  }))
  if (role === 'user') return entries
  notes.write('system-in-place', { at })
  return entries.map((entry) => ({ ...entry, block: tagSystemText(entry.block) }))
}

function tagSystemText(block: ContentBlock): ContentBlock {
  return typeof block['text'] === 'string'
    ? createTextBlock(`<system>\n${block['text']}\n</system>`)
    : block
}

interface AssistantSegment extends EncodingContext {
  readonly items: readonly Item[]
  readonly start: number
  readonly end: number
  readonly pairs: ToolCallPairs
}

/**
 * Encodes a segment: the model's blocks, then the outputs of its calls, then media that an
 * assistant message cannot contain.
 */
function encodeSegment(segment: AssistantSegment): readonly BlockEntry[] {
  const { items, start, end, pairs, traits, notes } = segment
  const modelEntries: BlockEntry[] = []
  const mediaEntries: BlockEntry[] = []
  const results: BlockEntry[] = []
  for (let at = start; at < end; at++) {
    const item = items[at]
    if (item === undefined) continue
    if (isToolCall(item)) {
      if (item.name === '') {
        notes.write('call-without-name', { at })
        continue
      }
      results.push(encodeResult(segment, at))
    }
    const id = pairs.idByCall.get(at) ?? ''
    for (const entry of encodeAssistantItem(item, { at, callId: id, traits, notes })) {
      ;(entry.role === 'assistant' ? modelEntries : mediaEntries).push(entry)
    }
  }
  return [...moveCallsLast(modelEntries), ...results, ...mediaEntries]
}

/**
 * Moves tool calls after the text. Does not move them if the segment has thinking, which is valid
 * only in the original order of blocks.
 */
function moveCallsLast(entries: readonly BlockEntry[]): readonly BlockEntry[] {
  const isBound = entries.some(({ block }) => isThinking(block))
  const firstCall = entries.findIndex(isToolUse)
  if (isBound || firstCall === -1 || entries.slice(firstCall).every(isToolUse)) return entries
  return [...entries.filter((entry) => !isToolUse(entry)), ...entries.filter(isToolUse)]
}

function isToolUse({ block }: BlockEntry): boolean {
  return block['type'] === 'tool_use'
}

function encodeResult({ items, end, pairs, notes }: AssistantSegment, call: number): BlockEntry {
  const id = pairs.idByCall.get(call) ?? ''
  const at = pairs.outputByCall.get(call)
  const output = at === undefined ? undefined : items[at]
  if (at === undefined || output === undefined || !isToolOutput(output)) {
    notes.write('output-missing', { at: call })
    return { role: 'user', at: call, block: createMissingResult(id) }
  }
  if (pairs.areSeparated(end, at)) notes.write('output-moved', { at })
  return { role: 'user', at, block: createToolResult(id, output, at, notes) }
}

function createMissingResult(id: string): ContentBlock {
  const content = 'There is no result: the call was not completed.'
  return { type: 'tool_result', tool_use_id: id, content, is_error: true }
}

function createToolResult(
  id: string,
  output: ToolOutput,
  at: number,
  notes: AnthropicNotes,
): ContentBlock {
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...encodeContent(output, at, notes),
    ...(isErrorOutput(output) ? { is_error: true } : {}),
  }
}

function encodeContent({ output }: ToolOutput, at: number, notes: AnthropicNotes): ContentBlock {
  if (typeof output === 'string') return output.trim() === '' ? {} : { content: output }
  const content = encodeParts(output, at, notes).filter((block) => block['text'] !== '')
  return content.length === 0 ? {} : { content }
}

/** True if the client marked the output as an error with `is_error`, which only this wire has. */
function isErrorOutput(output: ToolOutput): boolean {
  const flag = 'is_error' in output ? output.is_error : output.native?.['anthropic']?.['is_error']
  return flag === true
}
