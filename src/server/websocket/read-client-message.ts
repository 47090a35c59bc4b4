/**
 * Reads a client's message: `response.create` with the fields of a request. Rejects fields that
 * make sense only over HTTP. All functions throw a GatewayError for invalid input.
 */
import { isObject, type JsonObject, tryParseJson } from '../../core/json/json.ts'
import {
  asString,
  readOptional,
  createMissingFieldError,
} from '../../dialects/checks/check-json-types.ts'
import { rejectDeepNesting } from '../../dialects/checks/reject-deep-nesting.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

export function readClientMessage(text: string | null): JsonObject {
  const json = text === null ? null : tryParseJson(text)
  rejectDeepNesting(json)
  if (isObject(json)) return json
  throw new GatewayError(
    'invalid_json',
    'We could not parse the JSON of your message. It must be a text with a JSON object.',
  )
}

/** Reads the optional `stream_id`, which all events of the answer repeat. */
export function readStreamId(message: JsonObject): string | null {
  return readOptional(asString, message['stream_id'], 'stream_id')
}

/**
 * Converts the message to a body of `POST /v1/responses`. Clients of the protocol's beta (`isBeta`) may
 * send `stream: true` and `stream_options`, as Codex does.
 */
export function readRequestBody(message: JsonObject, isBeta: boolean): JsonObject {
  const { type, stream_id: _streamId, stream, stream_options: options, ...fields } = message
  if (type !== 'response.create') throw createUnknownTypeError(type)
  if (hasValue(stream) && !(isBeta && stream === true)) throw createHttpOnlyFieldError('stream')
  if (hasValue(options) && !isBeta) throw createHttpOnlyFieldError('stream_options')
  if (hasValue(fields['background'])) throw createHttpOnlyFieldError('background')
  return { ...fields, stream: true }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null
}

function createUnknownTypeError(type: JsonObject[string]): GatewayError {
  if (type === undefined) return createMissingFieldError('type')
  const shown = typeof type === 'string' ? `'${type.slice(0, 40)}'` : typeof type
  return new GatewayError(
    'invalid_value',
    `Invalid value for \`type\`: ${shown}. Supported values are: 'response.create'.`,
    { param: 'type' },
  )
}

function createHttpOnlyFieldError(field: string): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    `Unsupported parameter: '${field}' is not supported over a WebSocket, where every answer is streamed and ends with its connection.`,
    { param: field },
  )
}
