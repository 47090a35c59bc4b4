/**
 * What can be said of an upstream under `quirks` of its account. Each wire has a table of those that
 * it knows: how a value is read, and a sentence for the README.
 */
export interface Quirk<Value = unknown> {
  /** Which values it takes; completes "quirks.name must be …". */
  readonly what: string
  /** `undefined` for a value that it cannot mean. */
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

export function choiceQuirk<const Word extends string | boolean>(
  words: readonly Word[],
  sentence: string,
): Quirk<Word> {
  return {
    what: `one of: ${words.join(', ')}`,
    read: (value) => words.find((word) => word === value),
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
