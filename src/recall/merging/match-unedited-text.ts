/**
 * Whether the words of a run are those that were recorded, as `sameWords` tells; or those that the
 * client was shown, which need not be the recorded ones, but whose fingerprint the turn has.
 */
import type { Message } from '../../core/item.ts'
import type { RememberedTurn } from '../../core/items/recorded-turn.ts'
import { saidIn, settled } from '../text/normalize-text.ts'
import type { Run } from '../split-and-fingerprint-segments.ts'
import { sameWords } from '../text/match-recorded-text.ts'
import { wentOn } from '../matching/turn-lacks-new-input.ts'

/** `recorded` are the messages of the turns, `given` those of the run. */
export function wordsKept(
  run: Run,
  turns: readonly RememberedTurn[],
  recorded: readonly Message[],
  given: readonly Message[],
): ReadonlySet<number> | null {
  const same = sameWords(recorded, given)
  if (same !== null) return same
  if (!isNamed(run, turns)) return null
  // Words that differ only in what does not count for a fingerprint are the client's edit.
  return saidIn(turns) === settled(run.words) ? null : new Set(recorded.keys())
}

/** The fingerprint of an answer that went on says nothing of what it went on from. */
function isNamed({ fingerprint }: Run, [first, ...others]: readonly RememberedTurn[]): boolean {
  if (first === undefined || others.length > 0) return false
  return fingerprint !== null && first.fingerprint === fingerprint && !wentOn(first)
}
