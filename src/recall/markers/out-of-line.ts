/**
 * Which turns cannot all be where they are thought to be: none stands before one that it goes on
 * from, no two are in one run of which the later was asked something new, and none goes on, with nothing
 * new, from one that stands in a round before.
 */
import type { RememberedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import type { Kin } from '../turn-ancestry.ts'
import type { Run } from '../split-and-fingerprint-segments.ts'

/** `places` tells the run of each turn. */
export function outOfLine(
  places: ReadonlyMap<RememberedTurn, number>,
  kin: Kin,
  runs: readonly Run[],
): ReadonlySet<RememberedTurn> {
  const wrong = new Set<RememberedTurn>()
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
