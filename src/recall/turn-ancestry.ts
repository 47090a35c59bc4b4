/** Who descends from whom, as far as it can be told from the turns that were found. */
import type { RecordedTurn } from '../core/items/recorded-turn.ts'

export interface TurnAncestry {
  /** Each once. */
  readonly all: readonly RecordedTurn[]
  readonly turn: (id: string) => RecordedTurn | null
  readonly parent: (turn: RecordedTurn) => RecordedTurn | null
  /** Its parent first. */
  readonly ancestors: (turn: RecordedTurn) => Iterable<RecordedTurn>
  /** The nearest of these, as far as what goes on from each does so with nothing new. */
  readonly ancestorsInAnswer: (turn: RecordedTurn) => Iterable<RecordedTurn>
  readonly isDescendant: (turn: RecordedTurn, of: RecordedTurn) => boolean
  readonly nearestAncestor: (
    of: RecordedTurn | null,
    among: readonly RecordedTurn[],
  ) => RecordedTurn | null
  /** `null`, too, if there are several. */
  readonly onlyDescendant: (
    of: RecordedTurn | null,
    among: readonly RecordedTurn[],
  ) => RecordedTurn | null
  /** The turns after `from` and before `to`, in their order; none if it is not known which. */
  readonly between: (from: RecordedTurn, to: RecordedTurn) => readonly RecordedTurn[]
}

export function buildTurnAncestry(turns: readonly RecordedTurn[]): TurnAncestry {
  const byId = new Map(turns.map((turn) => [turn.id, turn]))
  const turn: TurnAncestry['turn'] = (id) => byId.get(id) ?? null
  const parent: TurnAncestry['parent'] = ({ parent }) => (parent === null ? null : turn(parent))
  function* ancestors(of: RecordedTurn) {
    // However wrong the links may be, they are not followed for ever.
    let left = byId.size
    for (let next = parent(of); next !== null && left > 0; next = parent(next)) {
      left -= 1
      yield next
    }
  }
  function* ancestorsInAnswer(of: RecordedTurn) {
    let { input } = of
    for (const ancestor of ancestors(of)) {
      if (input.length > 0) return
      yield ancestor
      input = ancestor.input
    }
  }
  const isDescendant: TurnAncestry['isDescendant'] = (turn, of) => {
    for (const ancestor of ancestors(turn)) if (ancestor === of) return true
    return false
  }
  return {
    all: [...byId.values()],
    turn,
    parent,
    ancestors,
    ancestorsInAnswer,
    isDescendant,
    nearestAncestor(of, among) {
      if (of === null || among.length === 0) return null
      const wanted = new Set(among)
      for (const ancestor of ancestors(of)) if (wanted.has(ancestor)) return ancestor
      return null
    },
    onlyDescendant(of, among) {
      if (of === null) return null
      const found = among.filter((turn) => isDescendant(turn, of))
      return found.length === 1 ? (found[0] ?? null) : null
    },
    between(from, to) {
      const found: RecordedTurn[] = []
      for (const ancestor of ancestors(to)) {
        if (ancestor === from) return found.toReversed()
        found.push(ancestor)
      }
      return []
    },
  }
}
