/**
 * Decides which media must be hidden so that the rest satisfies a limit, e.g. of 100 images. All media before a cutoff
 * are hidden. The cutoff moves in steps of half the limit, counted from the beginning: image 101 hides the first 50
 * images at once, and the prompt then stays the same up to image 150.
 *
 * Media of the latest question count toward the limit but are never hidden. Media of tool outputs after the question
 * are limited to what the question leaves of the limit, or to 1 if it leaves nothing.
 */
import { sumWeights } from '../windows/item-weights.ts'

export interface WeighedMedia {
  /**
   * The range of the medium if all media are counted from the beginning of the conversation, in the unit of the limit.
   * E.g. 2 to 3 for the third image, or 0 to 5000 for a first image of 5000 bytes.
   */
  readonly scaleStart: number
  readonly scaleEnd: number
  /**
   * How much of the limit the medium uses, e.g. 1 image or 5000 bytes. 0 for pinned media, and for an image that is
   * counted elsewhere, e.g. because it comes again later.
   */
  readonly weight: number
  /** The position of the medium: before the latest question, in the question, or after it. */
  readonly section: 'earlier' | 'question' | 'later'
}

/**
 * Returns the cutoff in the unit of the limit, e.g. 50 images: media whose range starts before it are hidden, except
 * media of the latest question. 0 if nothing is hidden.
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
      // All media after the question fit what it leaves of the limit, so the cutoff must not hide them.
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
