/**
 * Keeps a turn for a client that did not ask for it, because the turn holds something that the client
 * cannot send back. It is opened with the first of such things, and if none comes nothing is written.
 * Nobody was promised anything: a database that fails takes nothing away from the answer, and one that
 * is slow holds its end back for a moment only. What it is still about to write is not given up.
 */
import type { Item } from '../conversation/item.ts'
import type { Recorder } from './record-turn.ts'

export interface Worth {
  /** Whether it is of use later, and would be lost. */
  readonly isWorth: (item: Item) => boolean
  /** Whether such an item has begun, as far as can be told. */
  readonly mayBeWorth: (item: Item) => boolean
  /** Whether the item is kept at all. */
  readonly isKept: (item: Item) => boolean
}

/** `late` hears of a turn whose end was told before it was written. */
export function rememberTurn(
  open: () => Recorder,
  worth: Worth,
  late: () => void = () => undefined,
): Recorder {
  const early: (readonly [Item, number])[] = []
  let recorder: Recorder | null = null
  const opened = (): Recorder => {
    if (recorder !== null) return recorder
    recorder = open()
    for (const [item, index] of early) recorder.itemEnded(item, index)
    return recorder
  }
  return {
    // It is not announced under the turn's id.
    opened: Promise.resolve(false),
    itemStarted(item) {
      // The sooner it is open, the sooner it may be named.
      if (worth.mayBeWorth(item)) opened()
    },
    itemEnded(item, index) {
      if (!worth.isKept(item)) return
      if (recorder === null && !worth.isWorth(item)) early.push([item, index])
      else opened().itemEnded(item, index)
    },
    mayBeNamed: () => recorder !== null && recorder.mayBeNamed(),
    async settle(outcome, ending, made) {
      if (recorder === null && !outcome.items.some(worth.isWorth)) return outcome
      const kept = { ...outcome, items: outcome.items.filter(worth.isKept) }
      if (!(await isInTime(opened().settle(kept, ending, made)))) late()
      return outcome
    },
  }
}

/** A user waits for the last word that long at most on account of a database. */
const PATIENCE_MS = 1000

async function isInTime(work: Promise<unknown>): Promise<boolean> {
  const patience = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => patience.resolve(false), PATIENCE_MS)
  const isDone = await Promise.race([work.then(() => true), patience.promise])
  clearTimeout(timer)
  return isDone
}
