/**
 * Reads simple settings: texts, numbers, choices and lists. A raw value is text if it comes from
 * the environment, and any JSON if it comes from the settings file. A reader throws an Error whose
 * message continues the setting's name, e.g. `must be a whole number …` after PORT.
 */
import { listFaults } from '../core/errors/read-all-or-throw.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'

export type Environment = Readonly<Record<string, unknown>>

/** Calls `read` and adds `prefix` before the message of every error that it throws. */
export function readWithErrorPrefix<Value>(prefix: string, read: () => Value): Value {
  try {
    return read()
  } catch (thrown) {
    const faults = listFaults(thrown).map((fault) => new Error(`${prefix} ${errorMessage(fault)}`))
    throw new AggregateError(faults, prefix, { cause: thrown })
  }
}

export function readText(raw: unknown): string {
  if (typeof raw === 'string') return raw
  throw new Error('must be a text.')
}

export function createWholeNumberReader(min: number, max: number) {
  return (raw: unknown): number => {
    const value = parseWholeNumber(raw, min, max)
    if (value !== null) return value
    throw new Error(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(raw)}.`)
  }
}

export function createWholeNumberOrOffReader(min: number, max: number) {
  return (raw: unknown): number | 'off' => {
    const value = raw === 'off' ? raw : parseWholeNumber(raw, min, max)
    if (value !== null) return value
    throw new Error(
      `must be a whole number from ${min} to ${max}, or off, not ${JSON.stringify(raw)}.`,
    )
  }
}

export function nullIfOff(value: number | 'off'): number | null {
  return value === 'off' ? null : value
}

/**
 * Parses a whole number from a number or a text such as `-1` or ` 42 `. Returns null for any other value,
 * and for a number outside of the range.
 */
function parseWholeNumber(raw: unknown, min: number, max: number): number | null {
  const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw
  const isValid = typeof value === 'number' && Number.isInteger(value)
  return isValid && value >= min && value <= max ? value : null
}

/** Returns the definition of a setting that is a whole number. */
export function defineWholeNumber(
  defaultValue: number,
  [min, max]: readonly [min: number, max: number],
  description: string,
) {
  return { default: defaultValue, read: createWholeNumberReader(min, max), description }
}

/** Returns the definition of a setting with several choices, of which the first is the default. */
export function defineChoice<const Choice extends string>(
  choices: readonly [Choice, ...Choice[]],
  description: string,
) {
  return {
    default: choices[0],
    read(raw: unknown): Choice {
      const found = choices.find((choice) => choice === raw)
      if (found !== undefined) return found
      throw new Error(`must be one of ${choices.join(', ')}, not ${JSON.stringify(raw)}.`)
    },
    description,
  }
}

/** Reads names of API keys; `auto` stays, and `off` means no key. */
export function readAccountPaths(raw: unknown): readonly string[] | 'auto' {
  if (raw === 'auto') return 'auto'
  return raw === 'off' ? [] : readCommaList(raw)
}

/**
 * Reads SPEAKER_GUARD: `off`, `on` (returned as an empty list), or a list of the model's own names,
 * e.g. `Ada, Ada (bot)`.
 */
export function readSpeakerLabels(raw: unknown): readonly string[] | 'off' {
  if (raw === 'off') return raw
  return raw === 'on' ? [] : readCommaList(raw)
}

/** Reads a comma-separated list without empty entries: `a, b,` → `['a', 'b']`. */
export function readCommaList(raw: unknown): readonly string[] {
  return readText(raw)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
