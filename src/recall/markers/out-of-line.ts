/**
 * Which turns cannot all be where they are thought to be: none stands before one that it goes on
 * from, no two are in one run of which the later was asked something new, and none goes on, with nothing
 * new, from one that stands in a round before.
 */
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'

/** `places` tells the run of each turn. */
export function findMisplacedTurns(
  places: ReadonlyMap<RecordedTurn, number>,
  kin: TurnAncestry,
  runs: readonly Segment[],
): ReadonlySet<RecordedTurn> {
  const wrong = new Set<RecordedTurn>()
  for (const [turn, at] of places) {
    let isAsked = turn.input.some(isUserMessage)
    for (const ancestor of kin.ancestors(turn)) {
      const before = places.get(ancestor)
      if (before === undefined) {
        isAsked ||= ancestor.input.some(isUserMessage)
        continue
      }
      const isOneRound = runs[before]?.asked === runs[at]?.asked
      if (before > at || (before === at ? isAsked : !isAsked && !isOneRound))
        wrong.add(turn).add(ancestor)
      break
    }
  }
  return wrong
}
