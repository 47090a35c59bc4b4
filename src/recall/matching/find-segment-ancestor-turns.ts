/**
 * The turns that the first one of a run continued: it was asked nothing new, and the words of them
 * all are there. If what it really continued was not kept, its parent is of another run. What it was told
 * tells what it continued, as that was then, and the marker of that is believed, whatever there is of words.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { endsWithAnswer, extractContinuedAnswer } from './extract-continued-answer.ts'

/** `own` are the turns of the run, `taken` those of any run, `doubted` those whose markers lie. */
export function findContinuedTurns(
  own: readonly RecordedTurn[],
  { words, marks }: Segment,
  kin: TurnAncestry,
  { taken, doubted }: Record<'taken' | 'doubted', ReadonlySet<RecordedTurn>>,
): readonly RecordedTurn[] {
  const begun: RecordedTurn[] = []
  const sure = new Set<RecordedTurn>()
  const named = marks.flatMap((id) => kin.turn(id) ?? [])
  for (let turn = own[0]; turn !== undefined; turn = begun[0]) {
    const told = extractContinuedAnswer(turn)
    const continued = told === null ? undefined : named.find((one) => endsWithAnswer(told, one))
    if (continued !== undefined) sure.add(continued)
    const parent = turn.input.length === 0 ? kin.parent(turn) : null
    const before = continued ?? told ?? parent
    if (before === null || taken.has(before) || begun.includes(before)) break
    begun.unshift(before)
  }
  // As nearly always, and what a whole run has said is not told for nothing.
  if (begun.length === 0) return begun
  const isBelieved = (turn: RecordedTurn) => marks.includes(turn.id) && !doubted.has(turn)
  const said = removeEmptyFences(words)
  const rest = normalizeTurnText(own)
  while (begun.length > 0) {
    const beginning = normalizeTurnText(begun)
    const isThere = said.startsWith(beginning) || said.endsWith(removeEmptyFences(beginning + rest))
    if (beginning !== '' && isThere) return begun
    if (begun.every((turn) => sure.has(turn) || isBelieved(turn))) return begun
    begun.shift()
  }
  return begun
}
