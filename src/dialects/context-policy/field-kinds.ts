/** One field of a policy as somebody may write it: how it is read, and what people are told of it. */
import { asBoolean, asList, asOneOf, asString, asWords, maybe } from '../checks/check-json-types.ts'
import { asIntegerIn } from '../checks/check-value-limits.ts'

type Reader<Value> = (value: unknown, path: string) => Value

export interface Field<Value> {
  readonly read: Reader<Value>
  /** What may be written there, for people. */
  readonly what: string
  readonly sentence: string
}

export function limit(least: number, most: number, sentence: string): Field<number | null> {
  const read = asIntegerIn(least, most)
  return {
    read: (value, path) => (value === null ? null : read(value, path)),
    what: `number from ${least}, or null`,
    sentence,
  }
}

export function number(least: number, most: number, sentence: string): Field<number> {
  return { read: asIntegerIn(least, most), what: `number from ${least}`, sentence }
}

export function word<Word extends string>(words: readonly Word[], sentence: string): Field<Word> {
  return {
    read: (value, path) => asOneOf(words)(asString(value, path), path),
    what: words.map((each) => `\`${each}\``).join(', '),
    sentence,
  }
}

export function yesOrNo(sentence: string): Field<boolean> {
  return { read: asBoolean, what: '`true`, `false`', sentence }
}

export function name(sentence: string): Field<string | null> {
  return { read: (value, path) => maybe(asWords, value, path), what: 'text, or null', sentence }
}

export function names(sentence: string): Field<readonly string[]> {
  return {
    read: (value, path) => asList(value, path).map((entry, at) => asWords(entry, `${path}[${at}]`)),
    what: 'list of texts',
    sentence,
  }
}
