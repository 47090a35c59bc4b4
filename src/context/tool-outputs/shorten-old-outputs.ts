/**
 * Shortens long tool outputs in old rounds to their beginning and end (`shorten-output.ts`).
 *
 * The cutoff between old and recent rounds moves in steps of `step` rounds, counted from the first round:
 * `keepRounds: 5, step: 10` keeps full outputs in 6 to 15 rounds, including the current one. A cutoff that moved with
 * each round would change the prompt's prefix with each question, which costs more than full outputs if the provider
 * has a prompt cache.
 */
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { replaceItems } from '../edit-items.ts'
import { createOutputShortener, type OutputLengths } from './shorten-output.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export interface OutputShorteningOptions extends Partial<OutputLengths> {
  /** The number of rounds before the current one that keep full outputs. With 0, only the current round does. */
  readonly keepRounds: number
  readonly step?: number
}

export function shortenOldOutputs({
  keepRounds,
  step = Math.max(1, Math.min(5, keepRounds)),
  minChars = 800,
  headChars = 256,
  tailChars = 128,
}: OutputShorteningOptions): Transform {
  const shorten = createOutputShortener({ minChars, headChars, tailChars })
  return {
    name: 'shorten-tool-outputs',
    requiredTraits: ITEM_TRAITS.toolOutput,
    prefixChanges: 'permanent',
    run(items) {
      const starts = findRoundStarts(items)
      const old = countOldRounds(starts.length, keepRounds, step)
      const cutoff = old > 0 ? (starts[old] ?? 0) : 0
      return replaceItems(
        items,
        (item, index) => (index < cutoff ? shorten(item) : item),
        'output-too-old',
      )
    },
  }
}

/** Returns how many of the first rounds have shortened outputs, e.g. 17 rounds with `keepRounds: 5, step: 10` → 10. */
export function countOldRounds(rounds: number, keepRounds: number, step: number): number {
  return Math.max(0, Math.floor((rounds - 1 - keepRounds) / step) * step)
}
