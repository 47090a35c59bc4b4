/**
 * Passes text deltas, which are most events of a stream, through without parsing them. A template is
 * learned from a parsed event; later events that differ only in the model's text match it. Matched events
 * are merged into one event for the decoder, e.g. ` is` and ` 4` into ` is 4`, which gives the same result
 * as decoding each.
 */
import type { SseMessage } from '../../../core/stream/sse.ts'
import type { TextDeltaPattern } from '../../../core/stream/text-delta-pattern.ts'
import {
  fillDeltaTemplate,
  deriveDeltaTemplate,
  matchDeltaTemplate,
  type DeltaTemplate,
} from './delta-template.ts'

export function createDeltaFastPath(pattern: TextDeltaPattern) {
  let template: DeltaTemplate | null = null
  let mergedText = ''
  let lastValues: readonly string[] | null = null
  const backoff = createLearningBackoff()

  return {
    /**
     * Returns the events of the text as they are sent to the client; null if one does not match the
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
    /** Returns the events that matched since the last call, merged into one, and forgets the template. */
    takeMergedDelta(): SseMessage | null {
      const [taken, values, text] = [template, lastValues, mergedText]
      template = lastValues = null
      mergedText = ''
      if (values === null || taken === null) return null
      const { eventName, data, textHoleIndex } = taken
      return { event: eventName, data: fillDeltaTemplate(data, values.with(textHoleIndex, text)) }
    },
    /**
     * Learns a template from the last event in `text`, which is `message`, and is sent to the client as
     * `patched`.
     */
    learnTemplate(text: string, message: SseMessage, patched: SseMessage): void {
      if (message.data.length > MAX_CHUNK_CHARS || backoff.skipsNext()) return
      template = deriveDeltaTemplate(text, message, patched, pattern)
    },
  }
}

/**
 * Maximum size of a chunk that is compared. A larger chunk would cost too much if its last event does not
 * match.
 */
const MAX_CHUNK_CHARS = 64 * 1024
/**
 * Maximum length of merged text before it is decoded, because it keeps the chunks with its pieces in
 * memory.
 */
const MAX_MERGED_CHARS = 16 * 1024

/** Counts the events to skip before the next template is learned: 1, 3, 7 … 63 while no event matches. */
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
