/**
 * Shortens long tool outputs in old rounds to their beginning and end, with a note about the missing
 * characters in between. JSON stays JSON (`shortenJson`).
 *
 * The cutoff between old and recent rounds moves in steps of `step` rounds, counted from the first round:
 * `rounds: 5, step: 10` keeps 6 to 15 rounds, including the latest. A cutoff that moved with every round would
 * change the prompt's prefix with each question, which costs more at a provider with a cache than full outputs.
 */
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { replaceItems } from '../edit-items.ts'
import { createOutputShortener, type OutputLengths } from './shorten-output.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export interface OutputShorteningOptions extends Partial<OutputLengths> {
  /** The number of rounds before the latest one that keep full outputs; 0 for the latest one only. */
  readonly rounds: number
  readonly step?: number
}

export function shortenOldOutputs({
  rounds,
  step = Math.max(1, Math.min(5, rounds)),
  minChars = 800,
  headChars = 256,
  tailChars = 128,
}: OutputShorteningOptions): Transform {
  const shorten = createOutputShortener({ minChars, headChars, tailChars })
  return {
    name: 'shorten-tool-outputs',
    needs: ITEM_TRAITS.toolOutput,
    prefixStability: 'lasting',
    run(items) {
      const starts = findRoundStarts(items)
      const old = countOldRounds(starts.length, rounds, step)
      const cutoff = old > 0 ? (starts[old] ?? 0) : 0
      return replaceItems(
        items,
        (item, index) => (index < cutoff ? shorten(item) : item),
        'output-too-old',
      )
    },
  }
}

/** Returns how many of `rounds` rounds are old, e.g. 17 rounds with `keepRounds: 5, step: 10` → 10. */
export function countOldRounds(rounds: number, keepRounds: number, step: number): number {
  return Math.max(0, Math.floor((rounds - 1 - keepRounds) / step) * step)
}
