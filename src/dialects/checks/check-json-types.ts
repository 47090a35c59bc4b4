/**
 * Reads values of a request body whose shape nobody has checked yet. What is wrong becomes an error
 * that names the place, as in `messages[3].content[0].text`, and says what is wanted there.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

type Unknown = unknown

export function asString(value: Unknown, path: string): string {
  if (typeof value === 'string') return value
  throw createWrongTypeError(value, path, 'a string')
}

/** A blank names nobody. */
export function asNonBlankString(value: unknown, path: string): string {
  const words = asString(value, path)
  if (words.trim() !== '') return words
  throw new GatewayError('invalid_value', `Invalid value for \`${path}\`: it is blank.`, {
    param: path,
  })
}

export function asObject(value: Unknown, path: string): JsonObject {
  if (isObject(value)) return value
  throw createWrongTypeError(value, path, 'an object')
}

export function asList(value: Unknown, path: string): readonly Unknown[] {
  if (Array.isArray(value)) return value as readonly Unknown[]
  throw createWrongTypeError(value, path, 'an array')
}

/** `null` and absent both mean that the client did not say. */
export function readOptional<Value>(
  read: (value: Unknown, path: string) => Value,
  value: Unknown,
  path: string,
): Value | null {
  return value === undefined || value === null ? null : read(value, path)
}

export function asBoolean(value: Unknown, path: string): boolean {
  if (typeof value === 'boolean') return value
  throw createWrongTypeError(value, path, 'a boolean')
}

export function asNumber(value: Unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw createWrongTypeError(value, path, 'a number')
}

export function asInteger(value: Unknown, path: string): number {
  if (Number.isInteger(value)) return value as number
  throw createWrongTypeError(value, path, 'an integer')
}

export function asOneOf<Word extends string>(words: readonly Word[]) {
  return (value: Unknown, path: string): Word => {
    const found = words.find((word) => word === value)
    if (found !== undefined) return found
    if (value === undefined) throw createMissingFieldError(path)
    throw new GatewayError(
      'invalid_value',
      `Invalid value for \`${path}\`: ${shown(value)}. Supported values are: ${words.map((word) => `'${word}'`).join(', ')}.`,
      { param: path },
    )
  }
}

/** `path` is where the object stands, `null` for the body itself. */
export function rejectUnknownFields(
  said: JsonObject,
  known: readonly string[],
  path: string | null,
): void {
  const other = Object.keys(said).find((name) => !known.includes(name))
  if (other === undefined) return
  const name = other.slice(0, MAX_SHOWN_CHARS)
  throw createUnknownFieldError(path === null ? name : `${path}.${name}`, known)
}

const MAX_SHOWN_CHARS = 80

export function createUnknownFieldError(path: string, known: readonly string[]): GatewayError {
  return new GatewayError(
    'unknown_parameter',
    `Unknown parameter: '${path}'. Known here are: ${known.map((name) => `'${name}'`).join(', ')}.`,
    { param: path },
  )
}

export function createMissingFieldError(path: string): GatewayError {
  return new GatewayError(
    'missing_required_parameter',
    `Missing required parameter: \`${path}\`.`,
    {
      param: path,
    },
  )
}

export function createWrongTypeError(value: Unknown, path: string, wanted: string): GatewayError {
  if (value === undefined) return createMissingFieldError(path)
  return new GatewayError(
    'invalid_type',
    `Invalid type for \`${path}\`: expected ${wanted}, but got ${kindOf(value)} instead.`,
    { param: path },
  )
}

function kindOf(value: Unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  // JSON can write numbers that are too large to be one.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is not finite'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** What the client wrote, short enough for an error message. */
function shown(value: Unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : kindOf(value)
}
