/**
 * Writes the events of one part of an item: its start, its text deltas, its end. Also writes the
 * arguments of a tool call, which are no part and therefore have no start event.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { MAX_CHARS_PER_STREAM_LINE, splitLongText } from '../../stream-line-limits.ts'
import type { SseEventCollector } from './sse-event-collector.ts'
import type { TextEventNames } from './text-event-names.ts'

export interface PartEventWriter {
  readonly writeText: (text: string, logprobs?: readonly Json[]) => void
  readonly writeAnnotation: (annotation: JsonObject) => void
  readonly close: () => void
  /** Returns the joined text of all deltas so far. */
  readonly getText: () => string
  readonly countAnnotations: () => number
  /**
   * Replaces the text and the part by those of the upstream's finished item, which may differ from
   * the deltas.
   */
  readonly setFinalPart: (text: string, part: JsonObject | null) => void
  /** Returns the part as the finished item contains it. */
  readonly renderPart: () => JsonObject
}

/**
 * Creates the writer and writes the start of the part. `itemFields` is the JSON that identifies the
 * item; `index` is the index of the part in its list; `extraDoneFields` is JSON that only the end of the text has,
 * e.g. `,"name":"f"`.
 */
export function createPartEventWriter(
  names: TextEventNames,
  itemFields: string,
  index: number,
  collector: SseEventCollector,
  extraDoneFields = '',
): PartEventWriter {
  const { partEvents } = names
  const fields =
    partEvents === null ? itemFields : `${itemFields},"${partEvents.indexField}":${index}`
  const deltaStart = `{"type":"${names.deltaEvent}",${fields},"delta":`
  const annotations: JsonObject[] = []
  const allLogprobs: Json[] = []
  let fullText = ''
  let finalPart: JsonObject | null = null

  if (partEvents !== null) {
    collector.addEvent(
      partEvents.addedEvent,
      `${fields},"part":${JSON.stringify(partEvents.createPart(''))}`,
    )
  }

  const render = (): JsonObject => {
    if (finalPart !== null) return finalPart
    const part = partEvents?.createPart(fullText) ?? {}
    return names.hasLogprobs ? { ...part, annotations, logprobs: allLogprobs } : part
  }
  const writeDelta = (text: string, logprobs: readonly Json[] | undefined): void => {
    const end = names.hasLogprobs ? `,"logprobs":${JSON.stringify(logprobs ?? [])}` : ''
    collector.addPrebuiltEvent(names.deltaEvent, deltaStart + JSON.stringify(text) + end)
  }
  return {
    writeText(text, logprobs) {
      fullText += text
      if (logprobs !== undefined) allLogprobs.push(...logprobs)
      if (text.length <= MAX_CHARS_PER_STREAM_LINE) return writeDelta(text, logprobs)
      for (const [piece, pieceText] of splitLongText(text).entries()) {
        writeDelta(pieceText, piece === 0 ? logprobs : [])
      }
    },
    writeAnnotation(annotation) {
      const annotationIndex = annotations.push(annotation) - 1
      collector.addEvent(
        'response.output_text.annotation.added',
        `${fields},"annotation_index":${annotationIndex},"annotation":${JSON.stringify(annotation)}`,
      )
    },
    close() {
      const end = names.hasLogprobs ? `,"logprobs":${JSON.stringify(allLogprobs)}` : ''
      collector.addEvent(
        names.doneEvent,
        `${fields}${extraDoneFields},"${names.textField}":${JSON.stringify(fullText)}${end}`,
      )
      if (partEvents === null) return
      // OpenAI repeats the logprobs in the finished item, but not in the end of the part.
      const part = names.hasLogprobs ? { ...render(), logprobs: [] } : render()
      collector.addEvent(partEvents.doneEvent, `${fields},"part":${JSON.stringify(part)}`)
    },
    getText: () => fullText,
    countAnnotations: () => annotations.length,
    setFinalPart(text, part) {
      fullText = text
      finalPart = part
    },
    renderPart: render,
  }
}
