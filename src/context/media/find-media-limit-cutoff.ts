/**
 * Finds the cutoff before which media are hidden to satisfy a limit. With a limit of 100, the cutoff moves 50 images at
 * a time: image 101 hides the first 50 images, and images 102 to 150 change nothing before them in the prompt.
 *
 * Media of the latest question count toward the limit but are never hidden. Media in later tool outputs share the rest
 * of the limit, which is at least 1. With a limit of 100 and a question with 30 images, tool outputs may have 70.
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
   * The medium's share of the limit, e.g. 1 image or 5000 bytes. 0 for pinned media, and for an image that a later
   * copy of it already counts.
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
      // The media in tool outputs after the question are within their limit, so the cutoff comes before them.
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
