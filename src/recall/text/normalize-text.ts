/**
 * Words as they are compared: what clients and editors do to a text without saying anything else is
 * not in them. Markers of ours are out, the boxes in which some clients show reasoning and tools, what
 * some take for thinking, and all whitespace: whether messages are joined by a line break, by two or by nothing makes no
 * difference.
 */
import { textOfPart, type Item, type Part } from '../../core/item.ts'
import { removeMarkerLikeText } from '../../core/markers/extract-turn-markers.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { removeThinkBlocks } from './remove-think-blocks.ts'
import { removeWhitespace } from './remove-whitespace.ts'
import { removeDetailsBlocks } from '../../context/cleaning/remove-details-from-text.ts'

export function normalizeText(text: string): string {
  return text === ''
    ? ''
    : removeWhitespace(removeDetailsBlocks(removeThinkBlocks(removeMarkerLikeText(text))))
}

/** Of one line, in which nothing is known of what stands around it. */
export function normalizeLine(line: string): string {
  return removeWhitespace(removeMarkerLikeText(line))
}

/** Words in which a fence that was put around a marker is gone too; what is left of it is empty. */
export function removeEmptyFences(normalized: string): string {
  return normalized.includes('``````') || normalized.includes('~~~~~~')
    ? normalized.replace(EMPTY_FENCE, '')
    : normalized
}

const EMPTY_FENCE = /`{6,}|~{6,}/g

/** The words of all messages of the assistant, refusals included. */
export function normalizeAssistantText(items: readonly Item[]): string {
  let normalized = ''
  for (const item of items) {
    if (item.type === 'message' && item.role === 'assistant')
      normalized += normalizeParts(item.content)
  }
  return normalized
}

/** All that was said in these turns, settled. */
export function normalizeTurnText(turns: readonly RecordedTurn[]): string {
  return removeEmptyFences(turns.map(({ output }) => normalizeAssistantText(output)).join(''))
}

/** Part by part, because a marker that ends one is not glued to the next. */
export function normalizeParts(content: readonly Part[]): string {
  let normalized = ''
  for (const part of content) normalized += normalizeText(textOfPart(part))
  return normalized
}
