/**
 * A setting for a deviation of one upstream, in the field `quirks` of its account. Each wire has a
 * table of its quirks, with a parser for the value and a sentence for the README.
 */
export interface Quirk<Value = unknown> {
  /** Describes the accepted values, as the end of the sentence "quirks.name must be …". */
  readonly what: string
  /** Reads the value; returns `undefined` if it is invalid. */
  readonly read: (value: unknown) => Value | undefined
  /** Describes the quirk in the README. */
  readonly sentence: string
}

export type QuirkTable = Readonly<Record<string, Quirk>>

export type QuirkValue<Kind> = Kind extends Quirk<infer Value> ? Value : never

export function createQuirk<Value>(
  what: string,
  isValid: (value: unknown) => value is Value,
  sentence: string,
): Quirk<Value> {
  return { what, read: (value) => (isValid(value) ? value : undefined), sentence }
}

export function flagQuirk(sentence: string): Quirk<boolean> {
  return createQuirk('true or false', (value) => typeof value === 'boolean', sentence)
}

export function textQuirk(sentence: string): Quirk<string> {
  return createQuirk('a string', (value) => typeof value === 'string', sentence)
}

export function choiceQuirk<const Choice extends string | boolean>(
  choices: readonly Choice[],
  sentence: string,
): Quirk<Choice> {
  const isChoice = (value: unknown): value is Choice => choices.some((choice) => choice === value)
  return createQuirk(`one of: ${choices.join(', ')}`, isChoice, sentence)
}

export function countQuirk(sentence: string): Quirk<number> {
  return createQuirk('a whole number', isCount, sentence)
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

export function listQuirk(what: string, sentence: string): Quirk<readonly string[]> {
  return createQuirk(what, isStringList, sentence)
}

export function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

export function patternQuirk(sentence: string): Quirk<RegExp> {
  return {
    what: 'a regular expression',
    read(value) {
      if (typeof value !== 'string') return undefined
      try {
        return new RegExp(value)
      } catch {
        return undefined
      }
    },
    sentence,
  }
}
