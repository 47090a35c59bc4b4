/** Numbers and texts that must keep within limits, refused in the words that OpenAI uses for it. */
import type { JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { asInteger, asNumber, asObject, asString } from './check-json-types.ts'

export function asDecimalBetween(least: number, most: number) {
  return (value: unknown, path: string): number =>
    within(asNumber(value, path), least, most, 'decimal', path)
}

export function asIntegerBetween(least: number, most: number) {
  return (value: unknown, path: string): number =>
    within(asInteger(value, path), least, most, 'integer', path)
}

/** By how many characters it has. */
export function asTextOfLength(least: number, most: number) {
  return (value: unknown, path: string): string => {
    const text = asString(value, path)
    shorterThan(text, most, path, path)
    if (text.length >= least) return text
    throw refused(
      'string_below_min_length',
      path,
      `string too short. Expected a string with minimum length ${least}, but got a string with length ${text.length} instead.`,
    )
  }
}

/** At most 16 pairs, keys of at most 64 and values of at most 512 characters. */
export function asMetadata(value: unknown, path: string): JsonObject {
  const metadata = asObject(value, path)
  const keys = Object.keys(metadata)
  if (keys.length > 16) {
    throw refused(
      'object_above_max_properties',
      path,
      `too many properties. Expected an object with at most 16 properties, but got an object with ${keys.length} properties instead.`,
    )
  }
  for (const key of keys) {
    const named = `${path}.${key.slice(0, 64)}`
    shorterThan(key, 64, `key '${key.slice(0, 64)}…' of ${path}`, path)
    shorterThan(asString(metadata[key], named), 512, named, named)
  }
  return metadata
}

function within(
  value: number,
  least: number,
  most: number,
  kind: 'decimal' | 'integer',
  path: string,
): number {
  if (value < least) {
    throw refused(
      `${kind}_below_min_value`,
      path,
      `${kind} below minimum value. Expected a value >= ${least}, but got ${value} instead.`,
    )
  }
  if (value > most) {
    throw refused(
      `${kind}_above_max_value`,
      path,
      `${kind} above maximum value. Expected a value <= ${most}, but got ${value} instead.`,
    )
  }
  return value
}

function shorterThan(text: string, most: number, what: string, path: string): void {
  if (text.length <= most) return
  throw refused(
    'string_above_max_length',
    path,
    `string too long. Expected a string with maximum length ${most}, but got a string with length ${text.length} instead.`,
    what,
  )
}

function refused(code: string, param: string, why: string, what = param): GatewayError {
  const message = `Invalid '${what}': ${why}`
  return new GatewayError({ status: 400, type: 'invalid_request_error', code, message, param })
}
