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
  readonly what: string
  /** The meaning of the field, for the README. */
  readonly sentence: string
}

/** Maximum value of fields that count turns, items or messages. */
const MAX_COUNT = 1_000_000
/** Maximum value of fields that count tokens, characters or bytes. */
export const MAX_SIZE = 1_000_000_000

export function countField(min: number, sentence: string): PolicyField<number> {
  return numberField(min, MAX_COUNT, sentence)
}

export function sizeField(min: number, sentence: string): PolicyField<number> {
  return numberField(min, MAX_SIZE, sentence)
}

export function countLimitField(min: number, sentence: string): PolicyField<number | null> {
  return limitField(min, MAX_COUNT, sentence)
}

export function sizeLimitField(min: number, sentence: string): PolicyField<number | null> {
  return limitField(min, MAX_SIZE, sentence)
}

/** Creates a field whose value is a whole number, or `null` for no limit. */
function limitField(min: number, max: number, sentence: string): PolicyField<number | null> {
  const read = asNullable(asIntegerBetween(min, max))
  return { read, what: `number from ${min}, or null`, sentence }
}

export function numberField(min: number, max: number, sentence: string): PolicyField<number> {
  return { read: asIntegerBetween(min, max), what: `number from ${min}`, sentence }
}

export function choiceField<Choice extends string>(
  choices: readonly Choice[],
  sentence: string,
): PolicyField<Choice> {
  const what = choices.map((choice) => `\`${choice}\``).join(', ')
  return { read: asOneOf(choices), what, sentence }
}

export function booleanField(sentence: string): PolicyField<boolean> {
  return { read: asBoolean, what: '`true`, `false`', sentence }
}

export function textField(sentence: string): PolicyField<string | null> {
  return { read: asNullable(asNonBlankString), what: 'text, or null', sentence }
}

export function textListField(sentence: string): PolicyField<readonly string[]> {
  return { read: asListOf(asNonBlankString), what: 'list of texts', sentence }
}

export function asNullable<Value>(read: JsonReader<Value>): JsonReader<Value | null> {
  return (value, path) => readOptional(read, value, path)
}
