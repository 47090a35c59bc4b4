/**
 * Scores how well the text of a turn fits the text of a segment. Both are normalized first
 * (`recall/text/normalize-text.ts`), so whitespace and markers do not count.
 */
import { textOf } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeLine, normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { removeThinkBlocks } from '../text/remove-think-blocks.ts'
import { appendToGroup } from '../append-to-group.ts'

/**
 * Degree to which a segment has a turn's text. 0: nothing in common; 1: a part of the turn's text;
 * 2: all of it and more; 3: both texts are equal.
 */
export type TextMatchScore = 0 | 1 | 2 | 3

export const EXACT_MATCH: TextMatchScore = 3
export const CONTAINED_MATCH: TextMatchScore = 2

export interface TextMatcher {
  readonly scoreText: (turn: RecordedTurn, index: number) => TextMatchScore
  readonly getTurnText: (turn: RecordedTurn) => string
  readonly getSegmentText: (index: number) => string
  /** Returns the segments whose text equals `text`. */
  readonly findSegmentsWithText: (text: string) => readonly number[]
}

export function createTextMatcher(segments: readonly Segment[]): TextMatcher {
  const segmentTexts = segments.map(({ normalizedText }) => removeEmptyFences(normalizedText))
  const segmentsByText = new Map<string, number[]>()
  for (const [index, text] of segmentTexts.entries()) {
    appendToGroup(segmentsByText, text, index)
  }
  const getTurnText = cacheByTurn((turn) => normalizeTurnText([turn]))
  const getLongestLine = cacheByTurn(findLongestLine)
  const getSegmentText = (index: number): string => segmentTexts[index] ?? ''
  return {
    getTurnText,
    getSegmentText,
    findSegmentsWithText: (text) => segmentsByText.get(text) ?? [],
    scoreText(turn, index) {
      const text = getTurnText(turn)
      const segmentText = getSegmentText(index)
      // Two empty texts are equal, but that is weak evidence.
      if (segmentText === text) return text === '' ? 1 : EXACT_MATCH
      if (text === '' || segmentText === '') return 0
      if (segmentText.includes(text)) return CONTAINED_MATCH
      // The client may have only the beginning of an answer that the user stopped.
      if (text.startsWith(segmentText)) return 1
      const line = getLongestLine(turn)
      return line !== '' && segmentText.includes(line) ? 1 : 0
    },
  }
}

/**
 * Returns the longest line, which identifies the turn if the user did not edit that line; `''` if
 * it has fewer than 12 characters.
 */
function findLongestLine({ output }: RecordedTurn): string {
  let longest = ''
  for (const item of output) {
    if (item.type !== 'message') continue
    for (const line of removeThinkBlocks(textOf(item.content)).split('\n')) {
      if (line.length <= longest.length) continue
      const text = normalizeLine(line)
      if (text.length > longest.length) longest = text
    }
  }
  return longest.length < MIN_DISTINCTIVE_CHARS ? '' : longest
}

const MIN_DISTINCTIVE_CHARS = 12

function cacheByTurn(read: (turn: RecordedTurn) => string): (turn: RecordedTurn) => string {
  const cache = new Map<RecordedTurn, string>()
  return (turn) => {
    const cached = cache.get(turn)
    if (cached !== undefined) return cached
    const value = read(turn)
    cache.set(turn, value)
    return value
  }
}
