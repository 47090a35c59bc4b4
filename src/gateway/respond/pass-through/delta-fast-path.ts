/**
 * Passes text deltas, which are most events of a stream, through without parsing them. A template is
 * derived from a parsed event. Later events match it if they differ only in the model's text. For the
 * decoder, matching events are merged into one, e.g. ` is` and ` 4` into ` is 4`. The result is the same as
 * if each were decoded.
 */
import type { SseMessage } from '../../../core/stream/sse.ts'
import type { TextDeltaMessagePattern } from '../../../core/stream/text-delta-message-pattern.ts'
import {
  fillDeltaTemplate,
  deriveDeltaTemplate,
  matchDeltaTemplate,
  type DeltaTemplate,
} from './delta-template.ts'

export function createDeltaFastPath(pattern: TextDeltaMessagePattern) {
  let template: DeltaTemplate | null = null
  let mergedText = ''
  let lastValues: readonly string[] | null = null
  const backoff = createLearningBackoff()

  return {
    /**
     * Returns the events in `text` as the client is sent them; null if one of them does not match the
     * template.
     */
    matchDeltas(text: string): string | null {
      if (template === null || text.length > MAX_CHUNK_CHARS) return null
      if (mergedText.length > MAX_MERGED_CHARS) return null
      const { rawEvent, patchedEvent, textHoleIndex } = template
      let values: string[] = []
      let chunkText = ''
      let patchedText = ''
      for (let index = 0; index < text.length;) {
        values = []
        index = matchDeltaTemplate(rawEvent, text, index, values)
        if (index < 0) return null
        chunkText += values[textHoleIndex]
        if (patchedEvent !== null) patchedText += fillDeltaTemplate(patchedEvent, values)
      }
      mergedText += chunkText
      lastValues = values
      backoff.reset()
      return patchedEvent === null ? text : patchedText
    },
    /** Returns the events that matched since the last call, merged into one. Forgets the template. */
    takeMergedDelta(): SseMessage | null {
      const [taken, values, text] = [template, lastValues, mergedText]
      template = lastValues = null
      mergedText = ''
      if (values === null || taken === null) return null
      const { eventName, data, textHoleIndex } = taken
      return { event: eventName, data: fillDeltaTemplate(data, values.with(textHoleIndex, text)) }
    },
    /**
     * Derives the template from `message`, the last event in `text`. `patched` is the same event as the
     * client is sent it.
     */
    learnTemplate(text: string, message: SseMessage, patched: SseMessage): void {
      if (message.data.length > MAX_CHUNK_CHARS || backoff.skipsNext()) return
      template = deriveDeltaTemplate(text, message, patched, pattern)
    },
  }
}

/**
 * Maximum size of a chunk that is compared. With a larger chunk, too much time would be lost if its last
 * event does not match.
 */
const MAX_CHUNK_CHARS = 64 * 1024
/**
 * Maximum length of the text of merged deltas. When it is longer, the merged delta goes to the decoder, because
 * its text keeps the chunks that it came from in memory.
 */
const MAX_MERGED_CHARS = 16 * 1024

/**
 * Counts the events to skip before the next template is derived: 1, 3, 7 … 63, as long as no event has
 * matched.
 */
function createLearningBackoff() {
  let nextSkips = 0
  let remainingSkips = 0
  return {
    skipsNext(): boolean {
      remainingSkips -= 1
      if (remainingSkips >= 0) return true
      remainingSkips = nextSkips
      nextSkips = Math.min(nextSkips * 2 + 1, MAX_SKIPPED_EVENTS)
      return false
    },
    reset(): void {
      nextSkips = remainingSkips = 0
    },
  }
}

const MAX_SKIPPED_EVENTS = 63
