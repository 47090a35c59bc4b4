/**
 * The turns that the first one of a run continued: it was asked nothing new, and the words of them
 * all are there. If what it really continued was not kept, its parent is of another run. A turn that
 * is stored with all that it was told has there what it continued, as it was then.
 */
import { isOfModel } from '../conversation/of-model.ts'
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
  for (let turn = own[0]; turn !== undefined; turn = begun[0]) {
    const before = toldIn(turn) ?? (turn.input.length === 0 ? kin.parent(turn) : null)
    if (before === null || taken.has(before) || begun.includes(before)) break
    begun.unshift(before)
  }
  // As nearly always, and what a whole run has said is not told for nothing.
  if (begun.length === 0) return begun
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

/** What a turn was told of the answer that it continued, as a turn; `null` if that was not recorded. */
function toldIn(turn: RememberedTurn): RememberedTurn | null {
  const { input } = turn
  const from = input.findLastIndex((item) => !isOfModel(item)) + 1
  const output = input.slice(from)
  if (output.every(({ origin }) => origin === undefined)) return null
  return {
    ...turn,
    fingerprint: null,
    reasoningRefusedBy: null,
    input: input.slice(0, from),
    output,
  }
}
