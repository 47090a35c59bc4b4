/**
 * Checks the JSON values of a request body. Each check returns the value with its type, or throws a
 * GatewayError with the path of the value, e.g. `messages[3].content[0].text`, and the expected type.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

/**
 * A function that checks a value and returns it with its type. Its errors name the `path` of the
 * value.
 */
export type JsonReader<Value> = (value: unknown, path: string) => Value

export function asString(value: unknown, path: string): string {
  if (typeof value === 'string') return value
  throw createWrongTypeError(value, path, 'a string')
}

/** Accepts a string with at least one visible character: `' '` is rejected. */
export function asNonBlankString(value: unknown, path: string): string {
  const text = asString(value, path)
  if (text.trim() !== '') return text
  throw createInvalidValueError(path, 'it is blank.')
}

export function asObject(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value
  throw createWrongTypeError(value, path, 'an object')
}

export function asList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[]
  throw createWrongTypeError(value, path, 'an array')
}

/**
 * Returns a check that accepts lists and applies `read` to each entry. The path of an entry is e.g.
 * `tools[2]`.
 */
export function asListOf<Entry>(read: JsonReader<Entry>): JsonReader<readonly Entry[]> {
  return (value, path) =>
    asList(value, path).map((entry, index) => read(entry, `${path}[${index}]`))
}

/**
 * Returns a check that accepts objects and applies a reader to each field. It rejects fields
 * without a reader, and leaves fields that are absent or `null` out of the result.
 */
export function asObjectWith<Fields extends object>(readers: {
  readonly [Name in keyof Fields]: JsonReader<Fields[Name]>
}): JsonReader<Partial<Fields>> {
  const fields = Object.entries<JsonReader<unknown>>(readers)
  return (value, path) => {
    const object = asObject(value, path)
    rejectUnknownFields(object, Object.keys(readers), path)
    const values = fields.map(([name, read]) => {
      return [name, readOptional(read, object[name], `${path}.${name}`)] as const
    })
    return Object.fromEntries(values.filter(([, field]) => field !== null)) as Partial<Fields>
  }
}

/** Returns `null` if the value is absent or `null`, and otherwise the result of `read`. */
export function readOptional<Value>(
  read: JsonReader<Value>,
  value: unknown,
  path: string,
): Value | null {
  return value === undefined || value === null ? null : read(value, path)
}

export function asBoolean(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value
  throw createWrongTypeError(value, path, 'a boolean')
}

export function asNumber(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw createWrongTypeError(value, path, 'a number')
}

export function asInteger(value: unknown, path: string): number {
  if (Number.isInteger(value)) return value as number
  throw createWrongTypeError(value, path, 'an integer')
}

export function asOneOf<const Choice extends string>(
  choices: readonly Choice[],
): JsonReader<Choice> {
  return (value, path) => {
    const found = choices.find((choice) => choice === value)
    if (found !== undefined) return found
    if (value === undefined) throw createMissingFieldError(path)
    const supported = choices.map((choice) => `'${choice}'`).join(', ')
    const reason = `${formatForMessage(value)}. Supported values are: ${supported}.`
    throw createInvalidValueError(path, reason)
  }
}

/**
 * Throws an error for the first field that `known` does not contain. `path` is `null` for the body
 * itself.
 */
export function rejectUnknownFields(
  object: JsonObject,
  known: readonly string[],
  path: string | null,
): void {
  const unknownField = Object.keys(object).find((name) => !known.includes(name))
  if (unknownField === undefined) return
  const name = unknownField.slice(0, MAX_SHOWN_NAME_CHARS)
  throw createUnknownFieldError(path === null ? name : `${path}.${name}`, known)
}

const MAX_SHOWN_NAME_CHARS = 80

export function createUnknownFieldError(path: string, known: readonly string[]): GatewayError {
  const names = known.map((name) => `'${name}'`).join(', ')
  const message = `Unknown parameter: '${path}'. Known here are: ${names}.`
  return new GatewayError('unknown_parameter', message, { param: path })
}

export function createMissingFieldError(path: string): GatewayError {
  const message = `Missing required parameter: \`${path}\`.`
  return new GatewayError('missing_required_parameter', message, { param: path })
}

/** Creates the error for an invalid value. `reason` completes its message, e.g. `it is blank.` */
export function createInvalidValueError(path: string, reason: string): GatewayError {
  const message = `Invalid value for \`${path}\`: ${reason}`
  return new GatewayError('invalid_value', message, { param: path })
}

/** Creates an error such as `Invalid 'after': a search returns only one page.` */
export function createInvalidFieldError(param: string, reason: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid '${param}': ${reason}`, { param })
}

/**
 * Creates the error for a value of another type, or for a missing field if `value` is undefined.
 * `expected` has an article, e.g. `a string or an array`.
 */
export function createWrongTypeError(value: unknown, path: string, expected: string): GatewayError {
  if (value === undefined) return createMissingFieldError(path)
  const message = `Invalid type for \`${path}\`: expected ${expected}, but got ${describeType(value)} instead.`
  return new GatewayError('invalid_type', message, { param: path })
}

function describeType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  // JSON.parse returns Infinity for a number above the range of a double, e.g. 1e999.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is not finite'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function formatForMessage(value: unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : describeType(value)
}
