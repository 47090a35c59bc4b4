/**
 * Shortens long outputs of tools in old rounds to their beginning and their end, with a note in
 * between that says how much is missing. What is JSON stays JSON (`shortenJson`).
 *
 * The border between old and new moves in steps of `step` rounds, counted from the first round. If
 * it moved with every round, each question would change the prompt's prefix: that costs more at a
 * provider with a cache than to send everything whole. Nothing in the text depends on the age.
 */
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { replaceItems } from '../map-items-with-notes.ts'
import { createOutputShortener, type OutputLengths } from './shorten-output.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export interface OutputShorteningOptions extends Partial<OutputLengths> {
  /** So many rounds before the newest one stay whole; with 0 the newest one alone does. */
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
      const border = Math.floor((starts.length - 1 - rounds) / step) * step
      const oldEnd = border > 0 ? (starts[border] ?? 0) : 0
      return replaceItems(
        items,
        (item, at) => (at < oldEnd ? shorten(item) : item),
        'output-too-old',
      )
    },
  }
}
