/** The body of a request as JSON, or a refusal that says what is wrong with it. */
import { isObject, type JsonObject } from './conversation/json.ts'
import { readWellFormed } from './conversation/well-formed-json.ts'
import { refuseTooDeep } from './dialect/refuse-too-deep.ts'
import { GatewayError } from './errors.ts'

export interface JsonBody {
  readonly json: JsonObject
  /** As they came, so that they can go on like that, but for characters that are broken. */
  readonly bytes: () => Uint8Array
}

export function jsonBody(given: Uint8Array): JsonBody {
  const { text, bytes } = readWellFormed(given)
  return { json: asObject(parsed(text)), bytes: () => bytes }
}

export function jsonObject(bytes: Uint8Array): JsonObject {
  return asObject(parsed(readWellFormed(bytes).text))
}

/** `{}` where nothing was sent. */
export function maybeJsonObject(bytes: Uint8Array): JsonObject {
  return bytes.length === 0 ? {} : jsonObject(bytes)
}

export function jsonValue(bytes: Uint8Array): unknown {
  const value = parsed(readWellFormed(bytes).text)
  if (value !== undefined) return value
  throw new GatewayError('invalid_json', 'We could not parse the JSON body of your request.')
}

function asObject(json: unknown): JsonObject {
  if (isObject(json)) return json
  throw new GatewayError(
    'invalid_json',
    'We could not parse the JSON body of your request. It must be a JSON object.',
  )
}

/** `undefined` for what is no JSON. */
function parsed(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  refuseTooDeep(value)
  return value
}
