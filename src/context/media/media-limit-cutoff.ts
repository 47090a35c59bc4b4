/**
 * Finds the cutoff before which media are hidden to satisfy a limit. The cutoff moves in steps of half the
 * limit, counted from the beginning: with a limit of 100, 50 images are hidden at once.
 *
 * The latest question stays complete under any limit, and its media count. Media of later tool outputs may
 * use what remains of the limit, and at least 1.
 */
import { sumWeights } from '../windows/item-weights.ts'

export interface WeighedMedia {
  /** Range of the medium on the scale of the limit (images, bytes …), from the beginning of the conversation. */
  readonly from: number
  readonly to: number
  /** The amount that counts toward the limit; 0 if the same image is counted elsewhere. */
  readonly weight: number
  readonly zone: 'before' | 'question' | 'since'
}

/** Returns the position before which media are hidden, except those of the latest question. */
export function findMediaCutoff(all: readonly WeighedMedia[], limit: number): number {
  if (limit === 0) return Number.POSITIVE_INFINITY
  const firstSince = all.findIndex(({ zone }) => zone === 'since')
  const since = firstSince < 0 ? all.length : firstSince
  const question = all.filter(({ zone }) => zone === 'question')
  const inQuestion = sumWeights(question.map(({ weight }) => weight))
  const remaining = Math.max(1, limit - inQuestion)
  let total = 0
  for (let index = all.length - 1; index >= 0; index -= 1) {
    const { to, weight } = all[index] ?? EMPTY
    total += weight
    if (index >= since) {
      if (total > remaining) return roundUpToStep(to, remaining)
    } else if (total > limit) {
      // Media after the question fit the remaining limit here, so the cutoff must not hide them.
      return Math.min(roundUpToStep(to, limit), all[since]?.from ?? Number.POSITIVE_INFINITY)
    }
  }
  return 0
}

const EMPTY = { to: 0, weight: 0 }

function roundUpToStep(position: number, limit: number): number {
  const step = Math.ceil(limit / 2)
  return Math.ceil(position / step) * step
}
