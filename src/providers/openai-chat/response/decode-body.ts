/** An answer that was not streamed, as the events that its stream would have been. */
import { filterObjects } from '../../../core/items/chat-only-fields.ts'
import type { StreamEvent } from '../../../core/stream-event.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { createChunkReader, type DecodeOptions } from './chunk-reader.ts'

export function decodeBody(body: JsonObject, options: DecodeOptions): readonly StreamEvent[] {
  const reader = createChunkReader(options)
  const choices = filterObjects(body['choices']).map(convertMessageToDelta)
  const events = reader.readChunk({ ...body, choices })
  if (reader.isOver()) return events
  return [...events, ...(choices.length > 0 ? reader.endAnswer() : reader.fail(NO_CHOICES))]
}

const NO_CHOICES = createFailure('upstream_broken', 'The upstream sent an answer without choices.')

function convertMessageToDelta(choice: JsonObject): JsonObject {
  const { message, ...rest } = choice
  if (!isObject(message) || !Array.isArray(message['tool_calls']))
    return { ...rest, delta: message }
  // Each entry is a whole call, however its service names it.
  const calls = filterObjects(message['tool_calls']).map((call, index): Json => ({
    ...call,
    index,
  }))
  return { ...rest, delta: { ...message, tool_calls: calls } }
}
