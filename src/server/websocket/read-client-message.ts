/**
 * Reads a client's message: `response.create` with the fields of a request. Fields that only make
 * sense over HTTP are rejected, e.g. `background`. All functions throw a GatewayError for invalid
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
 * Converts the message to a body of `POST /v1/responses`. Clients of the beta of the WebSocket
 * protocol (`isBeta`) may send `stream: true` and `stream_options`, as Codex does.
 */
export function convertToRequestBody(message: JsonObject, isBeta: boolean): JsonObject {
  const { type, stream_id: _streamId, stream, stream_options: options, ...fields } = message
  asMessageType(type, 'type')
  if (hasValue(stream) && !(isBeta && stream === true)) throw createHttpOnlyFieldError('stream')
  if (hasValue(options) && !isBeta) throw createHttpOnlyFieldError('stream_options')
  if (hasValue(fields['background'])) throw createHttpOnlyFieldError('background')
  return { ...fields, stream: true }
}

const asMessageType = asOneOf(['response.create'])

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null
}

function createHttpOnlyFieldError(field: string): GatewayError {
  const message = `Unsupported parameter: '${field}' is not supported over a WebSocket, where every answer is streamed and ends with its connection.`
  return new GatewayError('unsupported_parameter', message, { param: field })
}
