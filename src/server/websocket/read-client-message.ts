/**
 * Reads a client's message: `response.create` with the fields of a request. Values that only make
 * sense over HTTP are rejected, e.g. `background: true`. All functions throw a GatewayError for invalid
 * input.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { asOneOf, asString, readOptional } from '../../dialects/checks/check-json-types.ts'
import { parseJsonObject, type BodyLimits } from '../parse-json-body.ts'

export async function readClientMessage(
  text: Uint8Array | null,
  limits: BodyLimits,
): Promise<JsonObject> {
  if (text !== null) return parseJsonObject(text, limits)
  throw new GatewayError(
    'invalid_json',
    'Send your message as text with a JSON object, not as binary.',
  )
}

/** Reads the optional `stream_id`, which all events of the answer repeat. */
export function readStreamId(message: JsonObject): string | null {
  return readOptional(asString, message['stream_id'], 'stream_id')
}

/**
 * Converts the message to a body of `POST /v1/responses`. Clients need not send `stream`, but OpenAI's Agents SDKs
 * and Codex send `stream: true`. Fields with the value that holds anyway are accepted, and contradictions rejected.
 */
export function convertToRequestBody(message: JsonObject): JsonObject {
  const { type, stream_id: _streamId, stream, stream_options: _options, ...more } = message
  const { background, ...fields } = more
  asMessageType(type, 'type')
  if ((stream ?? true) !== true) throw createHttpOnlyFieldError('stream')
  if ((background ?? false) !== false) throw createHttpOnlyFieldError('background')
  return { ...fields, stream: true }
}

const asMessageType = asOneOf(['response.create'])

function createHttpOnlyFieldError(field: string): GatewayError {
  const message = `Unsupported parameter: '${field}' is not supported over a WebSocket, where every answer is streamed and ends with its connection. Leave it out, or use POST /v1/responses.`
  return new GatewayError('unsupported_parameter', message, { param: field })
}
