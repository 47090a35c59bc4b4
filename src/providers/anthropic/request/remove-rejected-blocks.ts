/**
 * Removes blocks that the API rejects: empty text, thinking at the end of an assistant message, and
 * calls of Anthropic's own tools without a result, unless the API can still add the result.
 */
import type { AnthropicNotes } from '../encoding-notes.ts'
import {
  isBlankText,
  isServerToolCall,
  isThinking,
  type BlockEntry,
  type RequestSection,
} from '../api-types.ts'

export function removeRejectedBlocks(
  sections: readonly RequestSection[],
  notes: AnthropicNotes,
): readonly RequestSection[] {
  const answered = new Set<unknown>()
  for (const entries of sections) {
    for (const { block } of entries) answered.add(block['tool_use_id'])
  }
  const isAnswered = ({ block }: BlockEntry): boolean => answered.has(block['id'])
  return sections.map((entries, index) => {
    return cleanSection(entries, index === sections.length - 1, isAnswered, notes)
  })
}

function cleanSection(
  entries: RequestSection,
  isLast: boolean,
  isAnswered: (call: BlockEntry) => boolean,
  notes: AnthropicNotes,
): RequestSection {
  const groups = groupByRole(entries)
  return groups.flatMap((group, index) => {
    const cleaned = removeBlankText(group, notes)
    if (group[0]?.role === 'user') return cleaned
    // A call of Anthropic's own tool may have no result at the end of the last message, and before
    // tool outputs of the client: the API then continues the paused answer.
    const next = groups[index + 1]?.[0]
    const isWaiting = next === undefined ? isLast : next.block['type'] === 'tool_result'
    const allowed = isWaiting ? cleaned : removeUnansweredCalls(cleaned, isAnswered, notes)
    return removeTrailingThinking(allowed, notes)
  })
}

/** Groups adjacent entries that have the same role. */
export function groupByRole(entries: readonly BlockEntry[]): readonly (readonly BlockEntry[])[] {
  const groups: BlockEntry[][] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    if (last?.[0]?.role === entry.role) last.push(entry)
    else groups.push([entry])
  }
  return groups
}

/**
 * Removes empty text blocks. If the message has no other text, removes its blocks of white space
 * too.
 */
function removeBlankText(
  group: readonly BlockEntry[],
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  const hasText = group.some(({ block }) => block['type'] === 'text' && !isBlankText(block))
  return group.filter(({ itemIndex, block }) => {
    if (!isBlankText(block) || (hasText && block['text'] !== '')) return true
    notes.write('empty-text', { itemIndex })
    return false
  })
}

function removeUnansweredCalls(
  group: readonly BlockEntry[],
  isAnswered: (call: BlockEntry) => boolean,
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  return group.filter((entry) => {
    if (!isServerToolCall(entry.block) || isAnswered(entry)) return true
    notes.write('server-tool-without-result', { itemIndex: entry.itemIndex })
    return false
  })
}

export function removeTrailingThinking(
  group: readonly BlockEntry[],
  notes: AnthropicNotes,
): readonly BlockEntry[] {
  const end = group.findLastIndex(({ block }) => !isThinking(block)) + 1
  for (const { itemIndex } of group.slice(end))
    notes.write('reasoning-without-follower', { itemIndex })
  return end === group.length ? group : group.slice(0, end)
}
