/**
 * Checks numbers, texts and metadata of a request against their limits. The errors have the codes and
 * the wording of OpenAI's API, e.g. `integer_above_max_value`.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import {
  asInteger,
  asNumber,
  asObject,
  asString,
  type JsonReader,
  createInvalidValueError,
  asListOf,
} from './check-json-types.ts'

export function asDecimalBetween(min: number, max: number): JsonReader<number> {
  return (value, path) => checkRange(asNumber(value, path), min, max, 'decimal', path)
}

export function asIntegerBetween(min: number, max: number): JsonReader<number> {
  return (value, path) => checkRange(asInteger(value, path), min, max, 'integer', path)
}

/** Accepts any positive integer, for limits that have no maximum. */
export const asPositiveInteger = asIntegerBetween(1, Number.MAX_SAFE_INTEGER)

/** Returns a check that accepts strings of `min` to `max` characters (UTF-16 code units). */
export function asTextOfLength(min: number, max: number): JsonReader<string> {
  return (value, path) => {
    const text = asString(value, path)
    checkMaxLength(text, max, path, path)
    if (text.length >= min) return text
    const reason = `string too short. Expected a string with minimum length ${min}, but got a string with length ${text.length} instead.`
    throw createLimitError('string_below_min_length', path, reason)
  }
}

/**
 * Accepts metadata of at most 16 fields, with names of at most 64 and values of at most 512
 * characters.
 */
export function asMetadata(value: unknown, path: string): JsonObject {
  const metadata = asObject(value, path)
  const keys = Object.keys(metadata)
  if (keys.length > 16) {
    const reason = `too many properties. Expected an object with at most 16 properties, but got an object with ${keys.length} properties instead.`
    throw createLimitError('object_above_max_properties', path, reason)
  }
  for (const key of keys) {
    const valuePath = `${path}.${key.slice(0, 64)}`
    checkMaxLength(key, 64, `key '${key.slice(0, 64)}…' of ${path}`, path)
    checkMaxLength(asString(metadata[key], valuePath), 512, valuePath, valuePath)
  }
  return metadata
}

function checkRange(
  value: number,
  min: number,
  max: number,
  kind: 'decimal' | 'integer',
  path: string,
): number {
  if (value >= min && value <= max) return value
  const [code, expected] =
    value < min
      ? ['below_min_value', `below minimum value. Expected a value >= ${min}`]
      : ['above_max_value', `above maximum value. Expected a value <= ${max}`]
  throw createLimitError(`${kind}_${code}`, path, `${kind} ${expected}, but got ${value} instead.`)
}

function checkMaxLength(text: string, max: number, subject: string, path: string): void {
  if (text.length <= max) return
  const reason = `string too long. Expected a string with maximum length ${max}, but got a string with length ${text.length} instead.`
  throw createLimitError('string_above_max_length', path, reason, subject)
}

/**
 * Creates the error for a value outside of its limits. `subject` names the value in the message,
 * e.g. `metadata.topic`.
 */
function createLimitError(
  code: string,
  param: string,
  reason: string,
  subject = param,
): GatewayError {
  const message = `Invalid '${subject}': ${reason}`
  return new GatewayError({ status: 400, type: 'invalid_request_error', code, message, param })
}

const MAX_STOP_SEQUENCES = 64

const MAX_STOP_SEQUENCE_CHARS = 1024

/**
 * Accepts stop sequences: a string, or a list of at most 64 (OpenAI accepts 4, other services more).
 * A limit is necessary, because the gateway searches each answer for every sequence.
 */
export function asStopSequences(value: unknown, path: string): readonly string[] {
  if (typeof value === 'string') return [asStopSequence(value, path)]
  if (Array.isArray(value) && value.length > MAX_STOP_SEQUENCES) {
    const reason = `${value.length} stop sequences are too many. At most ${MAX_STOP_SEQUENCES} are accepted.`
    throw createInvalidValueError(path, reason)
  }
  return asListOf(asStopSequence)(value, path)
}

function asStopSequence(value: unknown, path: string): string {
  const text = asString(value, path)
  if (text.length <= MAX_STOP_SEQUENCE_CHARS) return text
  const reason = `a stop sequence has at most ${MAX_STOP_SEQUENCE_CHARS} characters.`
  throw createInvalidValueError(path, reason)
}
