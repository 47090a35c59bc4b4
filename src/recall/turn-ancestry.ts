/**
 * Indexes the loaded turns by id, and finds the ancestors and descendants of a turn among them. The
 * parent of a turn is the turn that comes directly before it in the stored conversation.
 */
import type { RecordedTurn } from '../core/items/recorded-turn.ts'

export interface TurnAncestry {
  /** All loaded turns, each once. */
  readonly allTurns: readonly RecordedTurn[]
  readonly findTurn: (id: string) => RecordedTurn | null
  readonly findParent: (turn: RecordedTurn) => RecordedTurn | null
  /** Lists the turn's parent, then the parent's parent, and so on. */
  readonly listAncestors: (turn: RecordedTurn) => Iterable<RecordedTurn>
  /**
   * Lists the earlier turns of the same answer, latest first. A turn with an empty input continues
   * the answer of its parent.
   */
  readonly listAncestorsInAnswer: (turn: RecordedTurn) => Iterable<RecordedTurn>
  readonly isDescendant: (turn: RecordedTurn, ancestor: RecordedTurn) => boolean
  /** Returns the candidate that is the turn's nearest ancestor; `null` if none is an ancestor. */
  readonly findNearestAncestor: (
    turn: RecordedTurn | null,
    candidates: readonly RecordedTurn[],
  ) => RecordedTurn | null
  /**
   * Returns the candidate that descends from the turn; `null` if none of the candidates does, or
   * several do.
   */
  readonly findOnlyDescendant: (
    turn: RecordedTurn | null,
    candidates: readonly RecordedTurn[],
  ) => RecordedTurn | null
  /**
   * Lists the turns between two turns of a conversation, oldest first; empty if `later` does not
   * descend from `earlier`.
   */
  readonly listTurnsBetween: (earlier: RecordedTurn, later: RecordedTurn) => readonly RecordedTurn[]
}

export function buildTurnAncestry(turns: readonly RecordedTurn[]): TurnAncestry {
  const turnById = new Map(turns.map((turn) => [turn.id, turn]))
  const findTurn: TurnAncestry['findTurn'] = (id) => turnById.get(id) ?? null
  const findParent: TurnAncestry['findParent'] = ({ parent }) =>
    parent === null ? null : findTurn(parent)
  function* listAncestors(turn: RecordedTurn) {
    // The limit ends the walk if the links between turns form a circle, because the stored data is
    // damaged.
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
  const findNearestAncestor: TurnAncestry['findNearestAncestor'] = (turn, candidates) => {
    if (turn === null || candidates.length === 0) return null
    const wanted = new Set(candidates)
    for (const ancestor of listAncestors(turn)) if (wanted.has(ancestor)) return ancestor
    return null
  }
  const isDescendant: TurnAncestry['isDescendant'] = (turn, ancestor) =>
    findNearestAncestor(turn, [ancestor]) !== null
  return {
    allTurns: [...turnById.values()],
    findTurn,
    findParent,
    listAncestors,
    listAncestorsInAnswer,
    isDescendant,
    findNearestAncestor,
    findOnlyDescendant(turn, candidates) {
      if (turn === null) return null
      const descendants = candidates.filter((candidate) => isDescendant(candidate, turn))
      return descendants.length === 1 ? (descendants[0] ?? null) : null
    },
    listTurnsBetween(earlier, later) {
      const between: RecordedTurn[] = []
      for (const ancestor of listAncestors(later)) {
        if (ancestor === earlier) return between.toReversed()
        between.push(ancestor)
      }
      return []
    },
  }
}
