/**
 * Shortens long tool outputs of finished rounds to their beginning and end (`shorten-output.ts`).
 *
 * With `keepRounds: 0, step: 1`, outputs are shortened as soon as their round is over, when little comes after them.
 * Otherwise the cutoff between old and recent rounds moves in steps of `step` rounds, counted from the first round:
 * `keepRounds: 5, step: 10` keeps full outputs in 6 to 15 rounds, including the current one. A cutoff that moved with
 * each round would change the prompt's prefix with each question, which costs more than full outputs if the provider
 * has a prompt cache.
 */
import { countOldRounds } from '../../core/items/count-old-rounds.ts'
import type { Item } from '../../core/item.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { replaceItems } from '../edit-items.ts'
import { createOutputShortener, type OutputLengths } from './shorten-output.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export interface OutputShorteningOptions extends Partial<OutputLengths> {
  /** The number of rounds before the current one that keep full outputs. With 0, only the current round does. */
  readonly keepRounds: number
  readonly step?: number
  /**
   * Returns the value 1 at each item that is shortened, e.g. only where this saves costs. Without it, all long outputs
   * before the cutoff are.
   */
  readonly findCuts?: (items: readonly Item[]) => Uint8Array
}

export function shortenOldOutputs({
  keepRounds,
  step = Math.max(1, Math.min(5, keepRounds)),
  longerThanChars = 800,
  headChars = 256,
  tailChars = 128,
  findCuts,
}: OutputShorteningOptions): Transform {
  const shorten = createOutputShortener({ longerThanChars, headChars, tailChars })
  return {
    name: 'shorten-tool-outputs',
    requiredTraits: ITEM_TRAITS.toolOutput,
    prefixChanges: 'permanent',
    run(items) {
      const isCut = findCuts?.(items)
      const cutoff = isCut === undefined ? findCutoff(items, keepRounds, step) : 0
      return replaceItems(
        items,
        (item, index) => (index < cutoff || isCut?.[index] === 1 ? shorten(item) : item),
        'output-too-old',
      )
    },
  }
}

function findCutoff(items: readonly Item[], keepRounds: number, step: number): number {
  const starts = findRoundStarts(items)
  const old = countOldRounds(starts.length, keepRounds, step)
  return old > 0 ? (starts[old] ?? 0) : 0
}
