/**
 * Finds the cutoff before which media are hidden to satisfy a limit. The cutoff moves in steps of half the
 * limit, counted from the beginning: with a limit of 100 images, 50 images are hidden at once.
 *
 * Media of the latest question count toward the limit but are never hidden. Media of tool
 * outputs after the question may fill what the question leaves of the limit, but always at least 1.
 */
import { sumWeights } from '../windows/item-weights.ts'

export interface WeighedMedia {
  /**
   * The range of the medium on the scale of the limit, from the beginning of the conversation. E.g. 2 and 3 for the
   * third image, or 0 and 5000 for a first image of 5000 bytes.
   */
  readonly scaleStart: number
  readonly scaleEnd: number
  /**
   * The images or bytes that count toward the limit; 0 for pinned media, and if the same image is counted elsewhere.
   */
  readonly weight: number
  /** The position of the medium: before the latest question, in the question, or after it. */
  readonly section: 'earlier' | 'question' | 'later'
}

/**
 * Returns the position on the scale of the limit before which media are hidden, except media of the latest question.
 */
export function findMediaLimitCutoff(all: readonly WeighedMedia[], limit: number): number {
  if (limit === 0) return Number.POSITIVE_INFINITY
  const firstAfter = all.findIndex(({ section }) => section === 'later')
  const afterQuestion = firstAfter < 0 ? all.length : firstAfter
  const question = all.filter(({ section }) => section === 'question')
  const inQuestion = sumWeights(question.map(({ weight }) => weight))
  const remaining = Math.max(1, limit - inQuestion)
  let total = 0
  for (let index = all.length - 1; index >= 0; index -= 1) {
    const { scaleEnd, weight } = all[index] ?? EMPTY
    total += weight
    if (index >= afterQuestion) {
      if (total > remaining) return roundUpToStep(scaleEnd, remaining)
    } else if (total > limit) {
      // All media after the question fit the remaining limit, so the cutoff must not hide them.
      return Math.min(
        roundUpToStep(scaleEnd, limit),
        all[afterQuestion]?.scaleStart ?? Number.POSITIVE_INFINITY,
      )
    }
  }
  return 0
}

const EMPTY = { scaleEnd: 0, weight: 0 }

function roundUpToStep(position: number, limit: number): number {
  const step = Math.ceil(limit / 2)
  return Math.ceil(position / step) * step
}
