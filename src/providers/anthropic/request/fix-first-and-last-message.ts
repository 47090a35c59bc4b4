/**
 * Makes the first and the last message of a request valid. A conversation must begin with a user
 * message. If the model cannot continue an assistant message, it must end with a user message too.
 * If an earlier request ended within this conversation, its end is encoded as it was then, because
 * later answers were generated after it. While thinking is off, thinking in an open tool loop is
 * left out, because the API rejects it.
 */
import { textOrEmpty } from '../../../core/json/json.ts'
import { createTextBlock } from './encode-parts.ts'
import type { AnthropicNotes } from './encoding-context.ts'
import { groupByRole, removeTrailingThinking } from './remove-rejected-blocks.ts'
import { lacksInitialThinking, findOpenToolLoop } from './plan-thinking.ts'
import type { ModelTraits } from '../model-traits.ts'
import { isServerToolCall, isThinking, type BlockEntry, type RequestSection } from '../api-types.ts'

export interface MessageEndOptions {
  readonly isThinkingOn: boolean
  /**
   * True if a response format (a JSON schema) is requested. The request then cannot end with an
   * assistant message (prefill).
   */
  readonly hasFormat: boolean
  readonly traits: ModelTraits
}

export function fixFirstAndLastMessage(
  sections: readonly RequestSection[],
  options: MessageEndOptions,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  const entries = fixFormerLastMessages(sections, options, notes)
  const allowed = options.isThinkingOn
    ? entries
    : removeOpenThinking(entries, options.traits, notes)
  return fixEnd(fixStart(allowed, notes), options, notes)
}

/**
 * Joins all sections. The end of each section is encoded as in the earlier request, with or without
 * thinking.
 */
export function fixFormerLastMessages(
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
 * Removes the thinking of an open tool loop. A model without thinking in its traits is left out: it
 * may belong to another service, which may require the thinking even if it is off.
 */
function removeOpenThinking(
  entries: readonly BlockEntry[],
  { thinking }: ModelTraits,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  if (thinking === 'none') return entries
  const open = new Set(findOpenToolLoop(entries).filter(({ block }) => isThinking(block)))
  for (const { at } of open) notes.write('thinking-off', { at })
  return open.size === 0 ? entries : entries.filter((entry) => !open.has(entry))
}

function fixStart(entries: readonly BlockEntry[], notes: AnthropicNotes): readonly BlockEntry[] {
  const [first] = entries
  // A conversation may begin with a compaction, because it replaces the user's first message.
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
  // A paused turn may be last although it is no prefill: the API continues its own tool call.
  if (last?.role !== 'assistant' || isPausedTurn(entries)) return entries
  if (
    !options.traits.supportsPrefill ||
    options.isThinkingOn ||
    options.hasFormat ||
    last.block['type'] !== 'text'
  ) {
    notes.write('prefill-as-instruction', { at: last.at })
    return [...entries, createUserLine('Continue exactly where your last message ends.')]
  }
  const text = textOrEmpty(last.block['text']).trimEnd()
  const before = entries.slice(0, -1)
  if (text === '') return fixEnd(removeTrailingThinking(before, notes), options, notes)
  return [...before, { ...last, block: { ...last.block, text } }]
}

function isPausedTurn(entries: readonly BlockEntry[]): boolean {
  const group = groupByRole(entries).at(-1) ?? []
  const answered = new Set(group.map(({ block }) => block['tool_use_id']))
  return group.some(({ block }) => isServerToolCall(block) && !answered.has(block['id']))
}

function createUserLine(text: string): BlockEntry {
  return { role: 'user', at: null, block: createTextBlock(text) }
}
