/**
 * The turns that the first one of a run continued: it was asked nothing new, and the words of them
 * all are there. If what it really continued was not kept, its parent is of another run.
 */
import type { RememberedTurn } from '../conversation/remembered.ts'
import { saidIn, settled } from './compact-words.ts'
import type { Kin } from './kin.ts'
import type { Run } from './plan-recall.ts'

/** `own` are the turns of the run, `taken` those of any run, `doubted` those whose markers lie. */
export function begunBefore(
  own: readonly RememberedTurn[],
  { words, marks }: Run,
  kin: Kin,
  { taken, doubted }: Record<'taken' | 'doubted', ReadonlySet<RememberedTurn>>,
): readonly RememberedTurn[] {
  const begun: RememberedTurn[] = []
  for (let turn = own[0]; turn?.input.length === 0; turn = begun[0]) {
    const before = kin.parent(turn)
    if (before === null || taken.has(before) || begun.includes(before)) break
    begun.unshift(before)
  }
  const said = settled(words)
  const rest = saidIn(own)
  while (begun.length > 0) {
    const beginning = saidIn(begun)
    const isThere = said.startsWith(beginning) || said.endsWith(settled(beginning + rest))
    if (beginning !== '' && isThere) return begun
    if (begun.every((turn) => marks.includes(turn.id) && !doubted.has(turn))) return begun
    begun.shift()
  }
  return begun
}
