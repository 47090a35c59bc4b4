/**
 * How well what a turn said fits what a client has of a run. Whitespace, markers and the like do not
 * count, see `recall/text/normalize-text.ts`.
 */
import { textOf } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeLine, normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { removeThinkBlocks } from '../text/remove-think-blocks.ts'

/** Nothing in common, a part of the words, all of them and more, these words and no others. */
export type TextMatchScore = 0 | 1 | 2 | 3

export const EXACT_MATCH: TextMatchScore = 3
export const CONTAINED_MATCH: TextMatchScore = 2

export interface TextMatcher {
  readonly fit: (turn: RecordedTurn, at: number) => TextMatchScore
  readonly wordsOf: (turn: RecordedTurn) => string
  readonly saidAt: (at: number) => string
  /** The runs that say exactly this. */
  readonly runsSaying: (words: string) => readonly number[]
}

export function createTextMatcher(runs: readonly Segment[]): TextMatcher {
  const said = runs.map(({ words }) => removeEmptyFences(words))
  const exact = new Map<string, number[]>()
  for (const [at, words] of said.entries()) {
    const same = exact.get(words)
    if (same === undefined) exact.set(words, [at])
    else same.push(at)
  }
  const wordsOf = kept((turn) => normalizeTurnText([turn]))
  const tellingOf = kept(tellingLine)
  const saidAt = (at: number): string => said[at] ?? ''
  return {
    wordsOf,
    saidAt,
    runsSaying: (words) => exact.get(words) ?? [],
    fit(turn, at) {
      const words = wordsOf(turn)
      const there = saidAt(at)
      // That neither says anything speaks for nobody by itself.
      if (there === words) return words === '' ? 1 : EXACT_MATCH
      if (words === '' || there === '') return 0
      if (there.includes(words)) return CONTAINED_MATCH
      // Of an answer that was stopped there may be the beginning only.
      if (words.startsWith(there)) return 1
      const line = tellingOf(turn)
      return line !== '' && there.includes(line) ? 1 : 0
    },
  }
}

/** The longest line: if that was not edited, it says whose the words are. Short ones are anybody's. */
function tellingLine({ output }: RecordedTurn): string {
  let longest = ''
  for (const item of output) {
    if (item.type !== 'message') continue
    for (const line of removeThinkBlocks(textOf(item.content)).split('\n')) {
      if (line.length <= longest.length) continue
      const words = normalizeLine(line)
      if (words.length > longest.length) longest = words
    }
  }
  return longest.length < SHORTEST_TELLING ? '' : longest
}

const SHORTEST_TELLING = 12

function kept(read: (turn: RecordedTurn) => string): (turn: RecordedTurn) => string {
  const known = new Map<RecordedTurn, string>()
  return (turn) => {
    const before = known.get(turn)
    if (before !== undefined) return before
    const value = read(turn)
    known.set(turn, value)
    return value
  }
}
