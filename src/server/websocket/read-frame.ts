/**
 * One message of a client: `response.create` with the fields of a request. What only HTTP has a
 * meaning for is refused. All of these throw a GatewayError for whatever else they are given.
 */
import { isObject, type JsonObject, tryParseJson } from '../../core/json/json.ts'
import {
  asString,
  readOptional,
  createMissingFieldError,
} from '../../dialects/checks/check-json-types.ts'
import { rejectDeepNesting } from '../../dialects/checks/reject-deep-nesting.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

export function readFrame(text: string | null): JsonObject {
  const json = text === null ? null : tryParseJson(text)
  rejectDeepNesting(json)
  if (isObject(json)) return json
  throw new GatewayError(
    'invalid_json',
    'We could not parse the JSON of your message. It must be a text with a JSON object.',
  )
}

/** The lane that the client has put the request on; all events of its answer name it. */
export function readStreamId(frame: JsonObject): string | null {
  return readOptional(asString, frame['stream_id'], 'stream_id')
}

/**
 * The message as a body of `POST /v1/responses`. In the beta of this protocol, which clients name
 * in a header, some always say `stream: true`, and are let.
 */
export function readRequestBody(frame: JsonObject, isBeta: boolean): JsonObject {
  const { type, stream_id: _lane, stream, stream_options: options, ...fields } = frame
  if (type !== 'response.create') throw notCreate(type)
  if (isSaid(stream) && !(isBeta && stream === true)) throw notHere('stream')
  if (isSaid(options) && !isBeta) throw notHere('stream_options')
  if (isSaid(fields['background'])) throw notHere('background')
  return { ...fields, stream: true }
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null
}

function notCreate(type: JsonObject[string]): GatewayError {
  if (type === undefined) return createMissingFieldError('type')
  const shown = typeof type === 'string' ? `'${type.slice(0, 40)}'` : typeof type
  return new GatewayError(
    'invalid_value',
    `Invalid value for \`type\`: ${shown}. Supported values are: 'response.create'.`,
    { param: 'type' },
  )
}

function notHere(field: string): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    `Unsupported parameter: '${field}' is not supported over a WebSocket, where every answer is streamed and ends with its connection.`,
    { param: field },
  )
}
