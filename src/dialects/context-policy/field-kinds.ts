/**
 * Defines the kinds of policy fields: how a value is read, and how the README table describes the
 * field.
 */
import {
  asBoolean,
  asListOf,
  asNonBlankString,
  asOneOf,
  readOptional,
  type JsonReader,
} from '../checks/check-json-types.ts'
import { asIntegerBetween } from '../checks/check-value-limits.ts'

export interface PolicyField<Value> {
  readonly read: JsonReader<Value>
  /** The accepted values for the README, e.g. `number from 1, or null`. */
  readonly accepts: string
  /** The meaning of the field, for the README. */
  readonly description: string
}

/** Maximum value of fields that count turns, items or messages. */
const MAX_COUNT = 1_000_000
/** Maximum value of fields that count tokens, characters or bytes. */
export const MAX_POLICY_SIZE = 1_000_000_000

export function countField(min: number, description: string): PolicyField<number> {
  return numberField(min, MAX_COUNT, description)
}

export function sizeField(min: number, description: string): PolicyField<number> {
  return numberField(min, MAX_POLICY_SIZE, description)
}

export function countLimitField(min: number, description: string): PolicyField<number | null> {
  return limitField(min, MAX_COUNT, description)
}

export function sizeLimitField(min: number, description: string): PolicyField<number | null> {
  return limitField(min, MAX_POLICY_SIZE, description)
}

/** Creates a field whose value is a whole number, or `null` for no limit. */
function limitField(min: number, max: number, description: string): PolicyField<number | null> {
  const read = asNullable(asIntegerBetween(min, max))
  return { read, accepts: `number from ${min}, or null`, description }
}

export function numberField(min: number, max: number, description: string): PolicyField<number> {
  return { read: asIntegerBetween(min, max), accepts: `number from ${min}`, description }
}

export function choiceField<Choice extends string>(
  choices: readonly Choice[],
  description: string,
): PolicyField<Choice> {
  const accepts = choices.map((choice) => `\`${choice}\``).join(', ')
  return { read: asOneOf(choices), accepts, description }
}

export function booleanField(description: string): PolicyField<boolean> {
  return { read: asBoolean, accepts: '`true`, `false`', description }
}

export function textField(description: string): PolicyField<string | null> {
  return { read: asNullable(asNonBlankString), accepts: 'text, or null', description }
}

export function textListField(description: string): PolicyField<readonly string[]> {
  return { read: asListOf(asNonBlankString), accepts: 'list of texts', description }
}

export function asNullable<Value>(read: JsonReader<Value>): JsonReader<Value | null> {
  return (value, path) => readOptional(read, value, path)
}
