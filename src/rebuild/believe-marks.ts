/**
 * Which markers of a client's text are to be believed, where no fingerprint knows better. Markers
 * are copied and moved, but the words of a turn seldom leave the place where it was.
 */
import type { RememberedTurn } from '../conversation/remembered.ts'
import { saidIn, settled } from './compact-words.ts'
import type { Run } from './plan-recall.ts'

/** The turns that the markers of a run name, in their order. */
export interface MarkedRun {
  readonly run: Run
  readonly turns: readonly RememberedTurn[]
}

/** For each of the runs those of its turns that are really its own. None is in two of them. */
export function believeMarks(marked: readonly MarkedRun[]): readonly (readonly RememberedTurn[])[] {
  const claims = new Map<RememberedTurn, number[]>()
  for (const [at, { turns }] of marked.entries()) {
    for (const turn of turns) {
      const places = claims.get(turn)
      if (places === undefined) claims.set(turn, [at])
      else places.push(at)
    }
  }
  const likeliest = judge(marked)
  const owners = new Map([...claims].map(([turn, places]) => [turn, likeliest(turn, places)]))
  return marked.map(({ turns }, at) => turns.filter((turn) => owners.get(turn) === at))
}

/**
 * Of the runs that carry one marker the one that the words speak for, or else the first. None, if
 * its words are all that another run says that has no marker to explain them: then it was moved.
 */
function judge(marked: readonly MarkedRun[]) {
  const known = new Map<number, string>()
  const saidAt = (at: number): string => {
    const words = known.get(at) ?? settled(marked[at]?.run.words ?? '')
    known.set(at, words)
    return words
  }
  let unexplained: ReadonlySet<string> | null = null
  return (turn: RememberedTurn, places: readonly number[]): number | null => {
    const first = places[0] ?? null
    const words = saidIn([turn])
    if (words === '') return first
    const exact = places.find((at) => saidAt(at) === words)
    const likely = exact ?? places.find((at) => saidAt(at).includes(words))
    if (likely !== undefined) return likely
    unexplained ??= new Set(
      marked.flatMap(({ turns }, at) => {
        return saidIn(turns) === saidAt(at) ? [] : [saidAt(at)]
      }),
    )
    return unexplained.has(words) ? null : first
  }
}
