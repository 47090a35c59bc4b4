/** Passes a stream through, unless the first character shows that the upstream sent one JSON object. */
import { startsWithJsonObject } from '../send/decode-answer-body.ts'
import type { ResponseWriter } from './response-writer-interface.ts'

export function selectWriterByFirstByte(
  streamWriter: ResponseWriter,
  createJsonWriter: () => ResponseWriter,
): ResponseWriter {
  let writer = streamWriter
  let isSelected = false
  return {
    push(chunk) {
      const isObject = isSelected ? null : startsWithJsonObject(chunk)
      if (isObject !== null) {
        isSelected = true
        if (isObject) writer = createJsonWriter()
      }
      return writer.push(chunk)
    },
    isOver: () => writer.isOver(),
    isCutShort: () => writer.isCutShort(),
    close: (failure) => writer.close(failure),
    outcome: () => writer.outcome(),
    end: (outcome) => writer.end(outcome),
  }
}
