/**
 * Tells one part of an item: announces it, says its text piece by piece, and closes it. The
 * arguments of a call are told the same way, but for the announcement.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { MAX_TEXT_LINE_CHARS, splitLongText } from '../../split-long-text.ts'
import type { TextEventNames } from './text-event-names.ts'
import type { EventWriter } from './event-writer.ts'

export interface PartEventWriter {
  readonly say: (text: string, logprobs?: readonly Json[]) => void
  readonly annotate: (annotation: JsonObject) => void
  readonly close: () => void
  readonly said: () => string
  readonly annotated: () => number
  /**
   * What the part turned out to be in the finished item. It is what the client keeps, should it
   * contradict what was said.
   */
  readonly settle: (text: string, shown: JsonObject | null) => void
  /** The part as it stands in the finished item. */
  readonly shown: () => JsonObject
}

/** `item` is the JSON that names the item, `at` the place in the list of parts. */
export function createPartEventWriter(
  voice: TextEventNames,
  item: string,
  at: number,
  writer: EventWriter,
): PartEventWriter {
  const { parts } = voice
  const place = parts === null ? item : `${item},"${parts.index}":${at}`
  const head = `{"type":"${voice.delta}",${place},"delta":`
  const annotations: JsonObject[] = []
  const allLogprobs: Json[] = []
  let whole = ''
  let settled: JsonObject | null = null

  if (parts !== null) writer.write(parts.added, `${place},"part":${JSON.stringify(parts.part(''))}`)

  const shown = (): JsonObject => {
    if (settled !== null) return settled
    const part = parts?.part(whole) ?? {}
    return voice.hasLogprobs ? { ...part, annotations, logprobs: allLogprobs } : part
  }
  const tell = (text: string, logprobs: readonly Json[] | undefined): void => {
    const tail = voice.hasLogprobs ? `,"logprobs":${json(logprobs)}` : ''
    writer.writeFrom(voice.delta, head + JSON.stringify(text) + tail)
  }
  return {
    say(text, logprobs) {
      whole += text
      if (logprobs !== undefined) allLogprobs.push(...logprobs)
      if (text.length <= MAX_TEXT_LINE_CHARS) return tell(text, logprobs)
      for (const [at, piece] of splitLongText(text).entries()) tell(piece, at === 0 ? logprobs : [])
    },
    annotate(annotation) {
      const index = annotations.push(annotation) - 1
      writer.write(
        'response.output_text.annotation.added',
        `${place},"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`,
      )
    },
    close() {
      const tail = voice.hasLogprobs ? `,"logprobs":${json(allLogprobs)}` : ''
      writer.write(voice.done, `${place},"${voice.whole}":${JSON.stringify(whole)}${tail}`)
      if (parts !== null) writer.write(parts.done, `${place},"part":${JSON.stringify(shown())}`)
    },
    said: () => whole,
    annotated: () => annotations.length,
    settle(text, final) {
      whole = text
      settled = final
    },
    shown,
  }
}

function json(logprobs: readonly Json[] | undefined): string {
  return logprobs === undefined || logprobs.length === 0 ? '[]' : JSON.stringify(logprobs)
}
