/**
 * Writes the events of one part of an item: its start, its text deltas, its end. Also writes the
 * arguments of a tool call, which are no part and therefore have no start event.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { MAX_TEXT_LINE_CHARS, splitLongText } from '../../split-long-text.ts'
import type { TextEventNames } from './text-event-names.ts'
import type { EventWriter } from './event-writer.ts'

export interface PartEventWriter {
  readonly writeText: (text: string, logprobs?: readonly Json[]) => void
  readonly writeAnnotation: (annotation: JsonObject) => void
  readonly close: () => void
  /** Returns the text of all deltas so far. */
  readonly text: () => string
  readonly countAnnotations: () => number
  /**
   * Replaces the text and the part by those of the finished item, which may differ from the deltas.
   */
  readonly setFinal: (text: string, part: JsonObject | null) => void
  /** Returns the part for the list in the finished item. */
  readonly render: () => JsonObject
}

/**
 * Creates the writer. `itemFields` is the JSON that identifies the item; `index` is the index of
 * the part in its list.
 */
export function createPartEventWriter(
  names: TextEventNames,
  itemFields: string,
  index: number,
  writer: EventWriter,
): PartEventWriter {
  const { parts } = names
  const fields = parts === null ? itemFields : `${itemFields},"${parts.indexField}":${index}`
  const deltaStart = `{"type":"${names.delta}",${fields},"delta":`
  const annotations: JsonObject[] = []
  const allLogprobs: Json[] = []
  let fullText = ''
  let finalPart: JsonObject | null = null

  if (parts !== null) {
    writer.write(parts.added, `${fields},"part":${JSON.stringify(parts.createPart(''))}`)
  }

  const render = (): JsonObject => {
    if (finalPart !== null) return finalPart
    const part = parts?.createPart(fullText) ?? {}
    return names.hasLogprobs ? { ...part, annotations, logprobs: allLogprobs } : part
  }
  const writeDelta = (text: string, logprobs: readonly Json[] | undefined): void => {
    const end = names.hasLogprobs ? `,"logprobs":${JSON.stringify(logprobs ?? [])}` : ''
    writer.writeStart(names.delta, deltaStart + JSON.stringify(text) + end)
  }
  return {
    writeText(text, logprobs) {
      fullText += text
      if (logprobs !== undefined) allLogprobs.push(...logprobs)
      if (text.length <= MAX_TEXT_LINE_CHARS) return writeDelta(text, logprobs)
      for (const [piece, pieceText] of splitLongText(text).entries()) {
        writeDelta(pieceText, piece === 0 ? logprobs : [])
      }
    },
    writeAnnotation(annotation) {
      const annotationIndex = annotations.push(annotation) - 1
      writer.write(
        'response.output_text.annotation.added',
        `${fields},"annotation_index":${annotationIndex},"annotation":${JSON.stringify(annotation)}`,
      )
    },
    close() {
      const end = names.hasLogprobs ? `,"logprobs":${JSON.stringify(allLogprobs)}` : ''
      writer.write(names.done, `${fields},"${names.textField}":${JSON.stringify(fullText)}${end}`)
      if (parts !== null) writer.write(parts.done, `${fields},"part":${JSON.stringify(render())}`)
    },
    text: () => fullText,
    countAnnotations: () => annotations.length,
    setFinal(text, part) {
      fullText = text
      finalPart = part
    },
    render,
  }
}
