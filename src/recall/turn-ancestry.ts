/** Indexes the loaded turns by id, and finds the ancestors and descendants of a turn among them. */
import type { RecordedTurn } from '../core/items/recorded-turn.ts'

export interface TurnAncestry {
  /** All loaded turns, each once. */
  readonly allTurns: readonly RecordedTurn[]
  readonly findTurn: (id: string) => RecordedTurn | null
  readonly findParent: (turn: RecordedTurn) => RecordedTurn | null
  /** Lists the parent first, then its parent, and so on. */
  readonly listAncestors: (turn: RecordedTurn) => Iterable<RecordedTurn>
  /** Lists earlier turns of the same answer, nearest first: a turn with an empty input continues its parent. */
  readonly listAncestorsInAnswer: (turn: RecordedTurn) => Iterable<RecordedTurn>
  readonly isDescendant: (turn: RecordedTurn, ancestor: RecordedTurn) => boolean
  readonly findNearestAncestor: (
    turn: RecordedTurn | null,
    candidates: readonly RecordedTurn[],
  ) => RecordedTurn | null
  /** Returns `null` if none or several of the candidates descend from the turn. */
  readonly findOnlyDescendant: (
    turn: RecordedTurn | null,
    candidates: readonly RecordedTurn[],
  ) => RecordedTurn | null
  /** Lists the turns after `from` and before `to`, oldest first; empty if the links do not connect them. */
  readonly listTurnsBetween: (from: RecordedTurn, to: RecordedTurn) => readonly RecordedTurn[]
}

export function buildTurnAncestry(turns: readonly RecordedTurn[]): TurnAncestry {
  const turnById = new Map(turns.map((turn) => [turn.id, turn]))
  const findTurn: TurnAncestry['findTurn'] = (id) => turnById.get(id) ?? null
  const findParent: TurnAncestry['findParent'] = ({ parent }) =>
    parent === null ? null : findTurn(parent)
  function* listAncestors(turn: RecordedTurn) {
    // The limit ends the walk if damaged links form a circle.
    let remaining = turnById.size
    for (let next = findParent(turn); next !== null && remaining > 0; next = findParent(next)) {
      remaining -= 1
      yield next
    }
  }
  function* listAncestorsInAnswer(turn: RecordedTurn) {
    let { input } = turn
    for (const ancestor of listAncestors(turn)) {
      if (input.length > 0) return
      yield ancestor
      input = ancestor.input
    }
  }
  const isDescendant: TurnAncestry['isDescendant'] = (turn, ancestor) => {
    for (const other of listAncestors(turn)) if (other === ancestor) return true
    return false
  }
  return {
    allTurns: [...turnById.values()],
    findTurn,
    findParent,
    listAncestors,
    listAncestorsInAnswer,
    isDescendant,
    findNearestAncestor(turn, candidates) {
      if (turn === null || candidates.length === 0) return null
      const wanted = new Set(candidates)
      for (const ancestor of listAncestors(turn)) if (wanted.has(ancestor)) return ancestor
      return null
    },
    findOnlyDescendant(turn, candidates) {
      if (turn === null) return null
      const descendants = candidates.filter((candidate) => isDescendant(candidate, turn))
      return descendants.length === 1 ? (descendants[0] ?? null) : null
    },
    listTurnsBetween(from, to) {
      const between: RecordedTurn[] = []
      for (const ancestor of listAncestors(to)) {
        if (ancestor === from) return between.toReversed()
        between.push(ancestor)
      }
      return []
    },
  }
}
