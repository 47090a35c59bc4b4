/** One field of a policy as somebody may write it: how it is read, and what people are told of it. */
import {
  asBoolean,
  asList,
  asOneOf,
  asString,
  asNonBlankString,
  readOptional,
} from '../checks/check-json-types.ts'
import { asIntegerBetween } from '../checks/check-value-limits.ts'

type Reader<Value> = (value: unknown, path: string) => Value

export interface PolicyField<Value> {
  readonly read: Reader<Value>
  /** What may be written there, for people. */
  readonly what: string
  readonly sentence: string
}

export function limitField(
  least: number,
  most: number,
  sentence: string,
): PolicyField<number | null> {
  const read = asIntegerBetween(least, most)
  return {
    read: (value, path) => (value === null ? null : read(value, path)),
    what: `number from ${least}, or null`,
    sentence,
  }
}

export function numberField(least: number, most: number, sentence: string): PolicyField<number> {
  return { read: asIntegerBetween(least, most), what: `number from ${least}`, sentence }
}

export function choiceField<Word extends string>(
  words: readonly Word[],
  sentence: string,
): PolicyField<Word> {
  return {
    read: (value, path) => asOneOf(words)(asString(value, path), path),
    what: words.map((each) => `\`${each}\``).join(', '),
    sentence,
  }
}

export function booleanField(sentence: string): PolicyField<boolean> {
  return { read: asBoolean, what: '`true`, `false`', sentence }
}

export function textField(sentence: string): PolicyField<string | null> {
  return {
    read: (value, path) => readOptional(asNonBlankString, value, path),
    what: 'text, or null',
    sentence,
  }
}

export function textListField(sentence: string): PolicyField<readonly string[]> {
  return {
    read: (value, path) =>
      asList(value, path).map((entry, at) => asNonBlankString(entry, `${path}[${at}]`)),
    what: 'list of texts',
    sentence,
  }
}
