/**
 * Where a turn was asked, told by the question of its round, and by the results of tools that it was
 * given, if the client still has them. Questions repeat, and people edit them.
 */
import type { Item } from '../conversation/item.ts'
import type { RememberedTurn } from '../conversation/remembered.ts'
import type { Kin } from './kin.ts'
import { questionOf, resultIdsIn, type Run } from './plan-recall.ts'

export interface AskedWhere {
  /** Empty if nobody knows. */
  readonly questionOf: (turn: RememberedTurn) => string
  readonly isAskedAt: (turn: RememberedTurn, at: number) => boolean
  /** Whether results that it was given stand in front of the run. */
  readonly isGivenAt: (turn: RememberedTurn, at: number) => boolean
}

export function askedWhere(runs: readonly Run[], kin: Kin): AskedWhere {
  const known = new Map<RememberedTurn, string>()
  const find = (turn: RememberedTurn): string => {
    const before = known.get(turn)
    if (before !== undefined) return before
    let question = questionOf(turn.input)
    let { input } = turn
    // With the results of tools it went on from its parent. What went on with nothing new may have
    // done so from an answer that was not kept.
    for (const ancestor of kin.ancestors(turn)) {
      if (question !== '' || input.length === 0) break
      question = known.get(ancestor) ?? questionOf(ancestor.input)
      input = ancestor.input
    }
    known.set(turn, question)
    return question
  }
  const isGivenAt = (turn: RememberedTurn, at: number): boolean => {
    const { resultsOf = [] } = runs[at] ?? {}
    return turn.input.some((item) => isResultOf(item, resultsOf))
  }
  return {
    questionOf: find,
    isGivenAt,
    isAskedAt(turn, at) {
      const question = find(turn)
      if (question === '' || question !== runs[at]?.question) return false
      const { resultsOf } = runs[at]
      return resultsOf.length === 0 || isGivenAt(turn, at)
    },
  }
}

function isResultOf(item: Item, callIds: readonly string[]): boolean {
  return resultIdsIn(item).some((id) => callIds.includes(id))
}
