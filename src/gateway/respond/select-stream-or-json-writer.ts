/**
 * Selects the writer of a response: if the body starts with `{`, the upstream sent a JSON object instead of
 * a stream.
 */
import { startsWithJsonObject } from '../send/decode-answer-body.ts'
import type { ResponseWriter } from './response-writer-interface.ts'

export function selectStreamOrJsonWriter(
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
    endBody: (failure) => writer.endBody(failure),
    abandon: () => writer.abandon(),
    getOutcome: () => writer.getOutcome(),
    renderEnd: (outcome) => writer.renderEnd(outcome),
  }
}
