/**
 * Makes the beginning and the end of a request valid. A request must begin with a user message. It
 * must also end with one, unless the model can continue an assistant message (prefill).
 *
 * If the model continued its own answer, an earlier request ended in the middle of this
 * conversation. That position gets the same end as in the earlier request, because the model
 * generated the continuation after this end.
 */
import { textOrEmpty } from '../../../core/json/json.ts'
import { createTextBlock } from './encode-parts.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import { groupByRole, removeTrailingThinking } from './remove-rejected-blocks.ts'
import { lacksInitialThinking, findOpenToolLoop } from './plan-thinking.ts'
import type { ModelTraits } from '../model-traits.ts'
import { isServerToolCall, isThinking, type BlockEntry, type RequestSection } from '../api-types.ts'

export interface MessageEndOptions {
  readonly isThinkingOn: boolean
  /**
   * True if the client requests a JSON schema. Then the request must not end with an assistant
   * message.
   */
  readonly hasFormat: boolean
  readonly traits: ModelTraits
}

export function fixFirstAndLastMessage(
  sections: readonly RequestSection[],
  options: MessageEndOptions,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  const entries = fixEndsAndJoinSections(sections, options, notes)
  const allowed = options.isThinkingOn
    ? entries
    : removeOpenThinking(entries, options.traits, notes)
  return fixEnd(fixStart(allowed, notes), options, notes)
}

/**
 * Ends each section but the last in the same way as the earlier request that ended there, e.g. with
 * a user message that asks the model to continue. Then joins the sections.
 */
export function fixEndsAndJoinSections(
  sections: readonly RequestSection[],
  options: MessageEndOptions,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  const lastIndex = sections.length - 1
  let openLoop: readonly BlockEntry[] = []
  return sections.flatMap((entries, index) => {
    if (index === lastIndex) return entries
    const isThinkingOn =
      options.isThinkingOn &&
      !lacksInitialThinking(findOpenToolLoop([...openLoop, ...entries]), options.traits)
    const fixed = fixEnd(entries, { ...options, isThinkingOn }, notes)
    openLoop = findOpenToolLoop([...openLoop, ...fixed])
    return fixed
  })
}

/**
 * Removes the thinking of an open tool loop (`findOpenToolLoop`), which the API rejects while
 * thinking is off. Removes nothing if `thinkingMode` is `none`, because other services than
 * Anthropic's may require the thinking of earlier answers.
 */
function removeOpenThinking(
  entries: readonly BlockEntry[],
  { thinkingMode }: ModelTraits,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  if (thinkingMode === 'none') return entries
  const open = new Set(findOpenToolLoop(entries).filter(({ block }) => isThinking(block)))
  for (const { itemIndex } of open) notes.write('thinking-off', { itemIndex })
  return open.size === 0 ? entries : entries.filter((entry) => !open.has(entry))
}

function fixStart(entries: readonly BlockEntry[], notes: AnthropicNotes): readonly BlockEntry[] {
  const [first] = entries
  // A compaction may come first, because it replaces the messages before it.
  if (first?.role === 'user' || first?.block['type'] === 'compaction') return entries
  notes.write('first-user-line-added')
  return [createUserLine('Let us begin.'), ...entries]
}

function fixEnd(
  entries: readonly BlockEntry[],
  options: MessageEndOptions,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  const last = entries.at(-1)
  // An answer that paused for one of Anthropic's own tools may come last: the API continues it.
  if (last?.role !== 'assistant' || isPausedAnswer(entries)) return entries
  if (
    !options.traits.supportsPrefill ||
    options.isThinkingOn ||
    options.hasFormat ||
    last.block['type'] !== 'text'
  ) {
    notes.write('prefill-as-instruction', { itemIndex: last.itemIndex })
    return [...entries, createUserLine('Continue exactly where your last message ends.')]
  }
  const text = textOrEmpty(last.block['text']).trimEnd()
  const before = entries.slice(0, -1)
  if (text === '') return fixEnd(removeTrailingThinking(before, notes), options, notes)
  return [...before, { ...last, block: { ...last.block, text } }]
}

function isPausedAnswer(entries: readonly BlockEntry[]): boolean {
  const group = groupByRole(entries).at(-1) ?? []
  const answered = new Set(group.map(({ block }) => block['tool_use_id']))
  return group.some(({ block }) => isServerToolCall(block) && !answered.has(block['id']))
}

function createUserLine(text: string): BlockEntry {
  return { role: 'user', itemIndex: null, block: createTextBlock(text) }
}
