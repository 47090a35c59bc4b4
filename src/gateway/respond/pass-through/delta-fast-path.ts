/**
 * Passes text deltas, which are most events of a stream, through without parsing them. Each event is compared as text
 * with a template that leaves only the model's text open, and that is learned from a parsed event. The matched events
 * are merged into one, e.g. ` is` and ` 4` into ` is 4`, which the decoder reads later with the same result.
 */
import {
  fillDeltaTemplate,
  deriveDeltaTemplate,
  matchDeltaTemplate,
  type DeltaTemplate,
} from './delta-template.ts'
import type { SseMessage, TextDeltaPattern } from '../../../core/stream/stage.ts'

export interface DeltaFastPath {
  /** Returns the events as the client is sent them; null unless all of them match the template. */
  readonly matchDeltas: (text: string) => string | null
  /** Returns the matched events as one event, and forgets the template. */
  readonly takeMergedDelta: () => SseMessage | null
  /** Learns a template from `message`, the last event in `text`, and from `patched`, its form for the client. */
  readonly learnTemplate: (text: string, message: SseMessage, patched: SseMessage) => void
}

export function createDeltaFastPath(pattern: TextDeltaPattern): DeltaFastPath {
  let template: DeltaTemplate | null = null
  let mergedText = ''
  let lastValues: readonly string[] | null = null
  const backoff = createLearningBackoff()

  return {
    matchDeltas(text) {
      if (template === null || text.length > MAX_CHUNK_CHARS) return null
      if (mergedText.length > MAX_MERGED_CHARS) return null
      const { raw, patched, textHole } = template
      let values: string[] = []
      let chunkText = ''
      let patchedText = ''
      for (let index = 0; index < text.length;) {
        values = []
        index = matchDeltaTemplate(raw, text, index, values)
        if (index < 0) return null
        chunkText += values[textHole]
        if (patched !== null) patchedText += fillDeltaTemplate(patched, values)
      }
      mergedText += chunkText
      lastValues = values
      backoff.reset()
      return patched === null ? text : patchedText
    },
    takeMergedDelta() {
      const [taken, values, text] = [template, lastValues, mergedText]
      template = lastValues = null
      mergedText = ''
      if (values === null || taken === null) return null
      const { event, data, textHole } = taken
      return { event, data: fillDeltaTemplate(data, values.with(textHole, text)) }
    },
    learnTemplate(text, message, patched) {
      if (message.data.length > MAX_CHUNK_CHARS || backoff.skipsNext()) return
      template = deriveDeltaTemplate(text, message, patched, pattern)
    },
  }
}

/** Max size of a chunk that is compared: if only the first events of a larger one matched, it would be read twice. */
const MAX_CHUNK_CHARS = 64 * 1024
/** Merged text is decoded after this many characters, because it keeps the chunks that it was cut from in memory. */
const MAX_MERGED_CHARS = 16 * 1024

/** Skips 1, 3, 7 … 63 events before the next template is learned, while no event matches one. */
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
