/**
 * Parses the JSON body of a request. Throws a GatewayError with the line and column of the fault.
 */
import { GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import { isNestedTooDeeply, MAX_JSON_DEPTH } from '../core/json/json-depth.ts'
import { isObject, type JsonObject } from '../core/json/json.ts'
import { decodeWellFormedText } from '../core/json/well-formed-json.ts'

export interface JsonBody {
  readonly json: JsonObject
  /**
   * Returns the client's own bytes, so that they can be forwarded unchanged; only invalid UTF-8 and
   * unpaired surrogates are replaced.
   */
  readonly bytes: () => Uint8Array
}

export function parseJsonBody(body: Uint8Array): JsonBody {
  const { text, bytes } = decodeWellFormedText(body)
  return { json: requireObject(parseText(text)), bytes: () => bytes }
}

export function parseJsonObject(bytes: Uint8Array): JsonObject {
  return requireObject(parseJsonValue(bytes))
}

/** Parses the body; returns `{}` if it is empty. */
export function parseOptionalJsonObject(bytes: Uint8Array): JsonObject {
  return bytes.length === 0 ? {} : parseJsonObject(bytes)
}

export function parseJsonValue(bytes: Uint8Array): unknown {
  return parseText(decodeWellFormedText(bytes).text)
}

function requireObject(json: unknown): JsonObject {
  if (isObject(json)) return json
  throw new GatewayError('invalid_json', `${PARSE_ERROR}. It must be a JSON object.`)
}

const PARSE_ERROR = 'We could not parse the JSON body of your request'

function parseText(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const fault = describeFault(text, errorMessage(cause))
    throw new GatewayError('invalid_json', `${PARSE_ERROR}: ${fault}.`, { cause })
  }
  rejectDeepNesting(value)
  return value
}

/**
 * Describes a JSON error by its position. Omits the rest of the parser's message, which quotes the
 * client's text.
 */
function describeFault(text: string, parserMessage: string): string {
  if (text.trim() === '') return 'it is empty'
  if (parserMessage === 'Unexpected end of JSON input') return 'it ends before it is complete'
  const position = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(parserMessage)?.[1]
  if (position === undefined) return 'it is not JSON'
  const lines = text.slice(0, Number(position)).split('\n')
  return `it is broken at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}

/**
 * Rejects JSON that is nested too deeply, before any recursive function reads it: a few kilobytes
 * of `[[[[…` could overflow the stack.
 */
export function rejectDeepNesting(value: unknown): void {
  if (!isNestedTooDeeply(value)) return
  const message = `The request is nested too deeply. Send it with at most ${MAX_JSON_DEPTH} levels.`
  throw new GatewayError('invalid_value', message)
}
