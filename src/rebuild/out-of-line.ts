/**
 * Which turns cannot all be where they are thought to be: none stands before one that it goes on
 * from, and no two are in one run of which the later was asked something new.
 */
import type { RememberedTurn } from '../conversation/remembered.ts'
import { isUserMessage } from '../conversation/rounds.ts'
import type { Kin } from './kin.ts'

/** `places` tells the run of each turn. */
export function outOfLine(
  places: ReadonlyMap<RememberedTurn, number>,
  kin: Kin,
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
      if (before > at || (before === at && isAsked)) wrong.add(turn).add(ancestor)
      break
    }
  }
  return wrong
}
