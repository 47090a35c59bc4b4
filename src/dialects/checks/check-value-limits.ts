/**
 * Checks numbers, texts and metadata of a request against their limits. The errors have the codes and
 * the wording of OpenAI's API, e.g. `integer_above_max_value`.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { asInteger, asNumber, asObject, asString, type JsonReader } from './check-json-types.ts'

export function asDecimalBetween(min: number, max: number): JsonReader<number> {
  return (value, path) => checkRange(asNumber(value, path), min, max, 'decimal', path)
}

export function asIntegerBetween(min: number, max: number): JsonReader<number> {
  return (value, path) => checkRange(asInteger(value, path), min, max, 'integer', path)
}

/** Accepts a string of `min` to `max` characters (UTF-16 code units). */
export function asTextOfLength(min: number, max: number): JsonReader<string> {
  return (value, path) => {
    const text = asString(value, path)
    checkMaxLength(text, max, path, path)
    if (text.length >= min) return text
    throw createLimitError(
      'string_below_min_length',
      path,
      `string too short. Expected a string with minimum length ${min}, but got a string with length ${text.length} instead.`,
    )
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
    throw createLimitError(
      'object_above_max_properties',
      path,
      `too many properties. Expected an object with at most 16 properties, but got an object with ${keys.length} properties instead.`,
    )
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
  if (value < min) {
    throw createLimitError(
      `${kind}_below_min_value`,
      path,
      `${kind} below minimum value. Expected a value >= ${min}, but got ${value} instead.`,
    )
  }
  if (value > max) {
    throw createLimitError(
      `${kind}_above_max_value`,
      path,
      `${kind} above maximum value. Expected a value <= ${max}, but got ${value} instead.`,
    )
  }
  return value
}

function checkMaxLength(text: string, max: number, subject: string, path: string): void {
  if (text.length <= max) return
  throw createLimitError(
    'string_above_max_length',
    path,
    `string too long. Expected a string with maximum length ${max}, but got a string with length ${text.length} instead.`,
    subject,
  )
}

/**
 * Creates the error for an exceeded limit. `subject` names the value in the message, if the path
 * does not.
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
