/**
 * Normalizes text for comparison. Removes markers, `<details>` boxes (with which some clients show
 * reasoning and tools), think blocks and all whitespace. So the texts of two messages compare equal
 * whether a client joins them with two line breaks, one or none.
 */
import { textOfPart, type Item, type Part } from '../../core/item.ts'
import { removeMarkerLikeText } from '../../core/markers/format-and-extract-markers.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { removeThinkBlocks } from './remove-think-blocks.ts'
import { removeWhitespace } from './remove-whitespace.ts'
import { removeDetailsBlocks } from '../../core/text/remove-details-blocks.ts'

export function normalizeText(text: string): string {
  return text === ''
    ? ''
    : removeWhitespace(removeDetailsBlocks(removeThinkBlocks(removeMarkerLikeText(text))))
}

/**
 * Normalizes one line. Unlike `normalizeText`, keeps `<details>` boxes and think blocks, because
 * they may span several lines.
 */
export function normalizeLine(line: string): string {
  return removeWhitespace(removeMarkerLikeText(line))
}

/**
 * Removes code fences that contained only a marker. In normalized text, which has no line breaks,
 * such a fence is a row of at least six backticks or tildes.
 */
export function removeEmptyFences(normalized: string): string {
  return normalized.includes('``````') || normalized.includes('~~~~~~')
    ? normalized.replace(EMPTY_FENCE, '')
    : normalized
}

const EMPTY_FENCE = /`{6,}|~{6,}/g

/**
 * Replaces CRLF with LF and removes NUL characters, so that a difference in them does not count as
 * an edit. Clients' databases remove NUL characters, too.
 */
export function normalizeLineBreaks(text: string): string {
  const unbroken = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
  return unbroken.includes('\0') ? unbroken.replaceAll('\0', '') : unbroken
}

/** Returns the normalized text of all assistant messages among the items, refusals included. */
export function normalizeAssistantText(items: readonly Item[]): string {
  return normalizeTextOfParts(
    items.flatMap((item) =>
      item.type === 'message' && item.role === 'assistant' ? item.content : [],
    ),
  )
}

/** Returns the normalized text that the turns generated together, without empty code fences. */
export function normalizeTurnText(turns: readonly RecordedTurn[]): string {
  return removeEmptyFences(turns.map(({ output }) => normalizeAssistantText(output)).join(''))
}

/**
 * Returns the normalized text of a message. Each part is normalized by itself, so that a marker at
 * the end of one part does not merge with the text of the next part.
 */
export function normalizeTextOfParts(content: readonly Part[]): string {
  return content.map((part) => normalizeText(textOfPart(part))).join('')
}
