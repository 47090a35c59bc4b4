/**
 * Keeps a turn for a client that did not ask for it, because the turn holds something that the client
 * cannot send back. It is opened with the first of such things, and if none comes nothing is written.
 * Nobody was promised anything: a database that fails takes nothing away from the answer, and one that
 * is slow holds its end back for a moment only. What it is still about to write is not given up.
 */
import type { Item } from '../../core/item.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import type { Recorder } from './recorder-interface.ts'

export interface ItemRetentionRule {
  /** Whether it is of use later, and would be lost. */
  readonly isWorth: (item: Item) => boolean
  /** Whether such an item has begun, as far as can be told. */
  readonly mayBeWorth: (item: Item) => boolean
  /** Whether the item is kept at all. */
  readonly isKept: (item: Item) => boolean
}

export interface LateWriteHandlers {
  /** Hears of a turn whose end was told before it was written. */
  readonly late: () => void
  /** Has the process live until it is written all the same. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

export function recordTurnOnDemand(
  open: () => Recorder,
  worth: ItemRetentionRule,
  { late, waitUntil }: LateWriteHandlers,
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
    canBeReferenced: () => recorder !== null && recorder.canBeReferenced(),
    whenReferenceable: () => recorder?.whenReferenceable() ?? null,
    isStoring: () => recorder !== null,
    loadStoredParent: async () => (await recorder?.loadStoredParent?.()) ?? null,
    async settle(outcome, ending, made) {
      const isWorth = outcome.items.some(worth.isWorth) || made.reasoningRejectedBy !== null
      if (recorder === null && !isWorth) return outcome
      const kept = { ...outcome, items: outcome.items.filter(worth.isKept) }
      const settled = opened().settle(kept, ending, made)
      waitUntil(settled)
      if ((await waitWithTimeout(settled, PATIENCE_MS)) === TIMED_OUT) late()
      return outcome
    },
  }
}

/** A user waits for the last word that long at most on account of a database. */
const PATIENCE_MS = 1000
