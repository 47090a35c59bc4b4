/**
 * Encodes the items of a conversation as content blocks, each with the role of its message. Later,
 * adjacent blocks of one role become one message, because roles must alternate.
 *
 * The API requires the `tool_result` of each `tool_use` at the beginning of the next message.
 * Otherwise it rejects the request: "`tool_use` ids were found without `tool_result` blocks
 * immediately after".
 */
import { findContinuingAnswers } from '../../../core/items/find-continuing-answers.ts'
import { isToolCall, isToolOutput, type Item, type ToolOutput } from '../../../core/item.ts'
import { encodeAssistantItem } from './encode-assistant-message.ts'
import { findIncompleteThinking } from './thinking-to-send.ts'
import { encodeParts, createTextBlock } from './encode-parts.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import type { EncodingContext } from './encoding-context.ts'
import { pairToolCallsAndChooseIds, type ToolCallPairs } from './pair-tool-calls-and-choose-ids.ts'
import {
  isThinking,
  type ContentBlock,
  type BlockEntry,
  type RequestSection,
} from '../api-types.ts'

/**
 * Encodes the items from `startIndex` on. Earlier items are instructions, which become the system
 * prompt.
 */
export function encodeMessages(
  items: readonly Item[],
  startIndex: number,
  context: EncodingContext,
): readonly RequestSection[] {
  const { notes } = context
  const pairs = pairToolCallsAndChooseIds(items, notes)
  const incompleteThinking = findIncompleteThinking(items)
  const sectionStarts = new Set(findContinuingAnswers(items))
  let entries: BlockEntry[] = []
  const sections = [entries]
  let itemIndex = startIndex
  while (itemIndex < items.length) {
    const item = items[itemIndex]
    if (item === undefined) break
    if (sectionStarts.has(itemIndex)) sections.push((entries = []))
    if (isAssistantItem(item)) {
      const end = findSegmentEnd(items, itemIndex, sectionStarts)
      entries.push(
        ...encodeSegment({ ...context, items, start: itemIndex, end, pairs, incompleteThinking }),
      )
      itemIndex = end
      continue
    }
    if (item.type === 'message') entries.push(...encodeInput(item, itemIndex, notes))
    else if (!pairs.pairedOutputIndexes.has(itemIndex))
      notes.write('output-without-call', { itemIndex })
    itemIndex += 1
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
  itemIndex: number,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  const blocks = encodeParts(content, itemIndex, notes)
  if (role !== 'user') notes.write('system-in-place', { itemIndex })
  return blocks.map((block) => {
    return { role: 'user', itemIndex, block: role === 'user' ? block : tagSystemText(block) }
  })
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
  readonly incompleteThinking: ReadonlySet<Item>
}

/**
 * Encodes a segment, i.e. consecutive items of the assistant: its own blocks, then the outputs of
 * its calls, then media, which an assistant message cannot contain.
 */
function encodeSegment(segment: AssistantSegment): readonly BlockEntry[] {
  const { items, start, end, pairs, traits, notes, jsonBudget, incompleteThinking } = segment
  const modelEntries: BlockEntry[] = []
  const mediaEntries: BlockEntry[] = []
  const results: BlockEntry[] = []
  for (let itemIndex = start; itemIndex < end; itemIndex++) {
    const item = items[itemIndex]
    if (item === undefined) continue
    if (isToolCall(item)) {
      if (item.name === '') {
        notes.write('call-without-name', { itemIndex })
        continue
      }
      results.push(encodeResult(segment, itemIndex))
    }
    const id = pairs.sentIdByCallIndex.get(itemIndex) ?? ''
    for (const entry of encodeAssistantItem(item, {
      itemIndex,
      callId: id,
      traits,
      notes,
      jsonBudget,
      incompleteThinking,
    })) {
      ;(entry.role === 'assistant' ? modelEntries : mediaEntries).push(entry)
    }
  }
  return [...moveCallsLast(modelEntries), ...results, ...mediaEntries]
}

/**
 * Moves tool calls after the text, as the model itself writes them: `[call, text]` → `[text,
 * call]`. Does not move them if one of the blocks is thinking, because thinking is valid only in
 * the original order.
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
  const result = { type: 'tool_result', tool_use_id: pairs.sentIdByCallIndex.get(call) ?? '' }
  const itemIndex = pairs.outputIndexByCallIndex.get(call)
  const output = itemIndex === undefined ? undefined : items[itemIndex]
  if (itemIndex === undefined || output === undefined || !isToolOutput(output)) {
    notes.write('output-missing', { itemIndex: call })
    const content = 'There is no result: the call was not completed.'
    return { role: 'user', itemIndex: call, block: { ...result, content, is_error: true } }
  }
  if (pairs.hasOtherItemsBetween(end, itemIndex)) notes.write('output-moved', { itemIndex })
  const content = encodeOutputContent(output, itemIndex, notes)
  const errorFlag = isErrorOutput(output) ? { is_error: true } : {}
  return { role: 'user', itemIndex, block: { ...result, ...content, ...errorFlag } }
}

function encodeOutputContent(
  { output }: ToolOutput,
  itemIndex: number,
  notes: AnthropicNotes,
): ContentBlock {
  if (typeof output === 'string') return output.trim() === '' ? {} : { content: output }
  const content = encodeParts(output, itemIndex, notes).filter((block) => block['text'] !== '')
  return content.length === 0 ? {} : { content }
}

/**
 * True if the client marked the output as failed with `is_error`, a field that only Anthropic's API
 * has.
 */
function isErrorOutput(output: ToolOutput): boolean {
  const flag = 'is_error' in output ? output.is_error : output.native?.['anthropic']?.['is_error']
  return flag === true
}
