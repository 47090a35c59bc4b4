/**
 * A quirk: a setting for how an upstream deviates, in the field `quirks` of its account. Each
 * provider has a table of its quirks.
 */
export interface Quirk<Value = unknown> {
  /** The accepted values, as the end of the sentence "quirks.maxTokens must be …". */
  readonly acceptedValues: string
  /** Returns the parsed value; `undefined` if it is invalid. */
  readonly parse: (value: unknown) => Value | undefined
  /** A sentence for the README. */
  readonly description: string
}

export type QuirkTable = Readonly<Record<string, Quirk>>

export type QuirkValue<Kind> = Kind extends Quirk<infer Value> ? Value : never

export function createQuirk<Value>(
  acceptedValues: string,
  isValid: (value: unknown) => value is Value,
  description: string,
): Quirk<Value> {
  return { acceptedValues, parse: (value) => (isValid(value) ? value : undefined), description }
}

export function flagQuirk(description: string): Quirk<boolean> {
  return createQuirk('true or false', (value) => typeof value === 'boolean', description)
}

export function textQuirk(description: string): Quirk<string> {
  return createQuirk('a string', (value) => typeof value === 'string', description)
}

export function choiceQuirk<const Choice extends string | boolean>(
  choices: readonly Choice[],
  description: string,
): Quirk<Choice> {
  const isChoice = (value: unknown): value is Choice => choices.some((choice) => choice === value)
  return createQuirk(`one of: ${choices.join(', ')}`, isChoice, description)
}

export function countQuirk(description: string): Quirk<number> {
  return createQuirk('a whole number', isCount, description)
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

export function listQuirk(acceptedValues: string, description: string): Quirk<readonly string[]> {
  return createQuirk(acceptedValues, isStringList, description)
}

export function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

export function patternQuirk(description: string): Quirk<RegExp> {
  return {
    acceptedValues: 'a regular expression',
    parse(value) {
      if (typeof value !== 'string') return undefined
      try {
        return new RegExp(value)
      } catch {
        return undefined
      }
    },
    description,
  }
}
