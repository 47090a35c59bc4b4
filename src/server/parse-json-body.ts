/** The body of a request as JSON, or a refusal that says what is wrong with it. */
import { isObject, type JsonObject } from '../core/json/json.ts'
import { readWellFormed } from '../core/json/well-formed-json.ts'
import { rejectDeepNesting } from '../dialects/checks/reject-deep-nesting.ts'
import { GatewayError, errorMessage } from '../core/errors/gateway-error.ts'

export interface JsonBody {
  readonly json: JsonObject
  /** As they came, so that they can go on like that, but for characters that are broken. */
  readonly bytes: () => Uint8Array
}

export function parseJsonBody(given: Uint8Array): JsonBody {
  const { text, bytes } = readWellFormed(given)
  return { json: asObject(parsed(text)), bytes: () => bytes }
}

export function parseJsonObject(bytes: Uint8Array): JsonObject {
  return asObject(parsed(readWellFormed(bytes).text))
}

/** `{}` where nothing was sent. */
export function parseOptionalJsonObject(bytes: Uint8Array): JsonObject {
  return bytes.length === 0 ? {} : parseJsonObject(bytes)
}

export function parseJsonValue(bytes: Uint8Array): unknown {
  return parsed(readWellFormed(bytes).text)
}

function asObject(json: unknown): JsonObject {
  if (isObject(json)) return json
  throw new GatewayError('invalid_json', `${UNREAD}. It must be a JSON object.`)
}

const UNREAD = 'We could not parse the JSON body of your request'

function parsed(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new GatewayError('invalid_json', `${UNREAD}: ${broken(text, errorMessage(cause))}.`, {
      cause,
    })
  }
  rejectDeepNesting(value)
  return value
}

/** Where, if the parser has told it. What it shows of the text stays out of the message. */
function broken(text: string, told: string): string {
  if (text.trim() === '') return 'it is empty'
  if (told === 'Unexpected end of JSON input') return 'it ends before it is complete'
  const position = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(told)?.[1]
  if (position === undefined) return 'it is not JSON'
  const lines = text.slice(0, Number(position)).split('\n')
  return `it is broken at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}
