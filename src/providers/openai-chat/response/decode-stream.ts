/**
 * Decodes a Chat Completions answer, streamed or not, into events. Accepts deviations of real
 * services: missing or repeated ids, usage in any chunk, errors beside choices, no `[DONE]`. The
 * answer ends with `[DONE]` or with the body, because usage may follow the finish reason.
 */
import { filterObjects } from '../../../core/items/chat-only-fields.ts'
import type { StreamEvent } from '../../../core/stream-event.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import type { Decoder } from '../../provider-interface.ts'
import { createChunkReader, type DecodeOptions } from './chunk-reader.ts'
import { parseError } from '../parse-errors.ts'

export function decodeStream(options: DecodeOptions): Decoder {
  const reader = createChunkReader(options)
  return {
    push({ event, data }) {
      if (reader.isOver() || data === '') return NO_OUTPUT
      if (data.startsWith('[DONE]')) return reader.endAnswer()
      let json: unknown
      try {
        json = JSON.parse(data)
      } catch {
        return reader.fail(event === 'error' ? parseError(data, null) : BROKEN_JSON)
      }
      return isObject(json) ? reader.readChunk(json) : NO_OUTPUT
    },
    end: () => (reader.isOver() ? NO_OUTPUT : reader.endBody()),
  }
}

/** Decodes a non-streamed body into the events of the corresponding stream. */
export function decodeBody(body: JsonObject, options: DecodeOptions): readonly StreamEvent[] {
  const reader = createChunkReader(options)
  const choices = filterObjects(body['choices']).map(convertMessageToDelta)
  const events = reader.readChunk({ ...body, choices })
  if (reader.isOver()) return events
  return [...events, ...(choices.length > 0 ? reader.endAnswer() : reader.fail(NO_CHOICES))]
}

const BROKEN_JSON = createFailure('upstream_broken', 'The upstream sent a chunk that is not JSON.')
const NO_CHOICES = createFailure('upstream_broken', 'The upstream sent an answer without choices.')

function convertMessageToDelta(choice: JsonObject): JsonObject {
  const { message, ...rest } = choice
  if (!isObject(message) || !Array.isArray(message['tool_calls']))
    return { ...rest, delta: message }
  // Numbers the calls, because each entry is a complete call even if several have the same id.
  const calls = filterObjects(message['tool_calls']).map((call, index): Json => ({
    ...call,
    index,
  }))
  return { ...rest, delta: { ...message, tool_calls: calls } }
}
