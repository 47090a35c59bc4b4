/**
 * A deviation of one upstream, set under `quirks` of its account. Each wire has a table of the
 * quirks that it knows, with a parser for the value and a sentence for the README.
 */
export interface Quirk<Value = unknown> {
  /** Names the accepted values; completes the sentence "quirks.name must be …". */
  readonly what: string
  /** Returns `undefined` for an invalid value. */
  readonly read: (value: unknown) => Value | undefined
  readonly sentence: string
}

export type QuirkTable = Readonly<Record<string, Quirk>>

export type QuirkValue<One> = One extends Quirk<infer Value> ? Value : never

export function flagQuirk(sentence: string): Quirk<boolean> {
  return {
    what: 'true or false',
    read: (value) => (typeof value === 'boolean' ? value : undefined),
    sentence,
  }
}

export function textQuirk(sentence: string): Quirk<string> {
  return {
    what: 'a string',
    read: (value) => (typeof value === 'string' ? value : undefined),
    sentence,
  }
}

export function choiceQuirk<const Choice extends string | boolean>(
  choices: readonly Choice[],
  sentence: string,
): Quirk<Choice> {
  return {
    what: `one of: ${choices.join(', ')}`,
    read: (value) => choices.find((choice) => choice === value),
    sentence,
  }
}

export function countQuirk(sentence: string): Quirk<number> {
  return {
    what: 'a whole number',
    read: (value) => (isCount(value) ? value : undefined),
    sentence,
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

export function listQuirk(what: string, sentence: string): Quirk<readonly string[]> {
  return { what, read: (value) => (isStringList(value) ? value : undefined), sentence }
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
