/**
 * How well what a turn said fits what a client has of a run. Whitespace, markers and the like do not
 * count, see `recall/text/normalize-text.ts`.
 */
import { textOf } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeLine, normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { removeThinkBlocks } from '../text/remove-think-blocks.ts'
import { appendToGroup } from '../append-to-group.ts'

/** Nothing in common, a part of the words, all of them and more, these words and no others. */
export type TextMatchScore = 0 | 1 | 2 | 3

export const EXACT_MATCH: TextMatchScore = 3
export const CONTAINED_MATCH: TextMatchScore = 2

export interface TextMatcher {
  readonly scoreText: (turn: RecordedTurn, index: number) => TextMatchScore
  readonly getTurnText: (turn: RecordedTurn) => string
  readonly getSegmentText: (index: number) => string
  /** The runs that say exactly this. */
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
      // That neither says anything speaks for nobody by itself.
      if (segmentText === text) return text === '' ? 1 : EXACT_MATCH
      if (text === '' || segmentText === '') return 0
      if (segmentText.includes(text)) return CONTAINED_MATCH
      // Of an answer that was stopped there may be the beginning only.
      if (text.startsWith(segmentText)) return 1
      const line = getLongestLine(turn)
      return line !== '' && segmentText.includes(line) ? 1 : 0
    },
  }
}

/** The longest line: if that was not edited, it says whose the words are. Short ones are anybody's. */
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
