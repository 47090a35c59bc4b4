/**
 * Parses the JSON body of a request. Throws a GatewayError with the line and column of the fault.
 */
import { GatewayError } from '../core/errors/gateway-error.ts'
import { describeJsonFault } from '../core/json/describe-json-fault.ts'
import { isObject, type JsonObject } from '../core/json/json.ts'
import { MAX_JSON_DEPTH, measureJson, type JsonLimits } from '../core/json/measure-json.ts'
import { decodeWellFormedText } from '../core/json/well-formed-json.ts'
import { yieldIfLarge, type RequestMemory } from '../gateway/request-memory.ts'
import type { Settings } from '../settings/read-settings.ts'

export interface JsonBody {
  readonly json: JsonObject
  /**
   * Returns the client's own bytes, so that they can be forwarded unchanged; only invalid UTF-8 and
   * unpaired surrogates are replaced.
   */
  readonly bytes: () => Uint8Array
}

/** The limits of a body: the memory of its request, and the settings. */
export interface BodyLimits {
  readonly memory: RequestMemory
  readonly settings: Pick<Settings, 'MAX_BODY_ITEMS' | 'MAX_BODY_VALUES'>
}

export async function parseJsonBody(body: Uint8Array, limits: BodyLimits): Promise<JsonBody> {
  const { value, bytes } = await parseLimited(body, limits)
  return { json: requireObject(value), bytes: () => bytes }
}

export async function parseJsonObject(body: Uint8Array, limits: BodyLimits): Promise<JsonObject> {
  return requireObject((await parseLimited(body, limits)).value)
}

/** Parses the body; resolves to `{}` if it is empty. */
export async function parseOptionalJsonObject(
  body: Uint8Array,
  limits: BodyLimits,
): Promise<JsonObject> {
  return body.length === 0 ? {} : parseJsonObject(body, limits)
}

export async function parseJsonValue(body: Uint8Array, limits: BodyLimits): Promise<unknown> {
  return (await parseLimited(body, limits)).value
}

/** Counts the JSON values of a body. Throws a GatewayError if the body exceeds a limit. */
export async function countValues(body: Uint8Array, limits: JsonLimits): Promise<number> {
  const { values, exceededLimit } = await measureJson(body, limits)
  if (exceededLimit === null) return values
  throw createLimitError(exceededLimit, limits)
}

interface ParsedJson {
  readonly value: unknown
  readonly bytes: Uint8Array
}

async function parseLimited(
  body: Uint8Array,
  { memory, settings }: BodyLimits,
): Promise<ParsedJson> {
  const { MAX_BODY_ITEMS: maxItems, MAX_BODY_VALUES: maxValues } = settings
  const values = await countValues(body, { maxItems, maxValues, maxDepth: MAX_JSON_DEPTH })
  if (values >= MIN_COUNTED_VALUES) memory.claim({ bytes: 0, values })
  const { text, bytes } = decodeWellFormedText(body)
  await yieldIfLarge(memory)
  const value = parseText(text)
  await yieldIfLarge(memory)
  return { value, bytes }
}

/** The values of smaller bodies are not counted: together, they take little memory. */
const MIN_COUNTED_VALUES = 1_000

function requireObject(json: unknown): JsonObject {
  if (isObject(json)) return json
  throw new GatewayError('invalid_json', `${PARSE_ERROR}. It must be a JSON object.`)
}

const PARSE_ERROR = 'We could not parse the JSON body of your request'

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new GatewayError('invalid_json', `${PARSE_ERROR}: ${describeJsonFault(text)}.`, { cause })
  }
}

function createLimitError(exceeded: keyof JsonLimits, limits: JsonLimits): GatewayError {
  const limit = limits[exceeded]
  if (exceeded === 'maxDepth')
    return new GatewayError(
      'invalid_value',
      `The request is nested too deeply. Send it with at most ${limit} levels.`,
    )
  return new GatewayError(
    'request_too_large',
    exceeded === 'maxItems'
      ? `A list of the request has more than ${limit} items. Send fewer, or raise MAX_BODY_ITEMS.`
      : `The request has more than ${limit} JSON values. Send fewer, or raise MAX_BODY_VALUES.`,
  )
}
