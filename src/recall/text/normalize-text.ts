/**
 * Normalizes text for comparison: removes markers, `<details>` boxes that some clients show for
 * reasoning and tools, think blocks, and all whitespace. For example, messages compare equal
 * whether a client joins them with a line break, with two or with none.
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

/** Normalizes a single line; blocks that span lines are not removed. */
export function normalizeLine(line: string): string {
  return removeWhitespace(removeMarkerLikeText(line))
}

/**
 * Removes code fences that contained only a marker. After normalizing, such a fence is six backticks
 * or tildes in a row.
 */
export function removeEmptyFences(normalized: string): string {
  return normalized.includes('``````') || normalized.includes('~~~~~~')
    ? normalized.replace(EMPTY_FENCE, '')
    : normalized
}

const EMPTY_FENCE = /`{6,}|~{6,}/g

/** Returns the normalized text of all assistant messages, refusals included. */
export function normalizeAssistantText(items: readonly Item[]): string {
  let normalized = ''
  for (const item of items) {
    if (item.type === 'message' && item.role === 'assistant')
      normalized += normalizeParts(item.content)
  }
  return normalized
}

/** Returns the normalized text of all turns, without empty fences. */
export function normalizeTurnText(turns: readonly RecordedTurn[]): string {
  return removeEmptyFences(turns.map(({ output }) => normalizeAssistantText(output)).join(''))
}

/** Normalizes each part by itself, because a marker at the end of a part must not merge with the next part. */
export function normalizeParts(content: readonly Part[]): string {
  let normalized = ''
  for (const part of content) normalized += normalizeText(textOfPart(part))
  return normalized
}
