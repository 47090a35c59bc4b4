/**
 * Scores how well the text of a stored turn fits the text of an answer segment (consecutive
 * model-made items in the client's list). Both texts are compared without whitespace and markers
 * (`recall/text/normalize-text.ts`).
 */
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import { textOf } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeLine, normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { removeThinkBlocks } from '../text/remove-think-blocks.ts'

/**
 * Score for the part of a turn's text that is in an answer segment. 3: both texts are equal; 2: the
 * segment has the complete text and more; 1: the segment has the text's longest line or only its
 * beginning, or both texts are empty; 0: less than that.
 */
export type TextMatchScore = 0 | 1 | 2 | 3

export const EXACT_MATCH: TextMatchScore = 3
export const CONTAINED_MATCH: TextMatchScore = 2

export interface TextMatcher {
  readonly scoreText: (turn: RecordedTurn, segmentIndex: number) => TextMatchScore
  readonly getTurnText: (turn: RecordedTurn) => string
  readonly getSegmentText: (segmentIndex: number) => string
  /** Returns the indexes of the answer segments whose normalized text equals `text`. */
  readonly findSegmentsWithText: (text: string) => readonly number[]
}

export function createTextMatcher(segments: readonly Segment[]): TextMatcher {
  const segmentTexts = segments.map(({ normalizedText }) => removeEmptyFences(normalizedText))
  const segmentsByText = Map.groupBy(segmentTexts.keys(), (index) => segmentTexts[index] ?? '')
  const getTurnText = cachePerObject((turn: RecordedTurn) => normalizeTurnText([turn]))
  const getLongestLine = cachePerObject(findLongestLine)
  const getSegmentText = (segmentIndex: number): string => segmentTexts[segmentIndex] ?? ''
  return {
    getTurnText,
    getSegmentText,
    findSegmentsWithText: (text) => segmentsByText.get(text) ?? [],
    scoreText(turn, segmentIndex) {
      const text = getTurnText(turn)
      const segmentText = getSegmentText(segmentIndex)
      // Two empty texts are equal, but this hardly proves that they belong together.
      if (segmentText === text) return text === '' ? 1 : EXACT_MATCH
      if (text === '' || segmentText === '') return 0
      if (segmentText.includes(text)) return CONTAINED_MATCH
      // If the user stopped an answer, the client may have only its beginning.
      if (text.startsWith(segmentText)) return 1
      const line = getLongestLine(turn)
      return line !== '' && segmentText.includes(line) ? 1 : 0
    },
  }
}

/**
 * Returns the longest line of a turn's text, by which the turn is recognized if the user edited
 * other lines. Returns `''` if the line has fewer than 12 characters, because other turns may have
 * a line such as "Yes.", too.
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
