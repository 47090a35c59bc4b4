/**
 * Reads simple settings: texts, numbers, choices, lists. A value is text if it comes from the
 * environment, and any JSON if it comes from the settings file. Each reader throws an Error whose
 * message completes a sentence with the name of the setting, e.g. PORT `must be a whole number …`.
 */
import { listFaults } from '../core/errors/collect-faults.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'

export type Environment = Readonly<Record<string, unknown>>

/** Puts `prefix` and a space before the message of every fault that `read` throws. */
export function prefixFaults<Value>(prefix: string, read: () => Value): Value {
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

export function wholeNumberReader(min: number, max: number) {
  return (raw: unknown): number => {
    const value = parseWholeNumber(raw, min, max)
    if (value !== null) return value
    throw new Error(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(raw)}.`)
  }
}

export function wholeNumberOrOffReader(min: number, max: number) {
  return (raw: unknown): number | 'off' => {
    const value = raw === 'off' ? raw : parseWholeNumber(raw, min, max)
    if (value !== null) return value
    throw new Error(
      `must be a whole number from ${min} to ${max}, or off, not ${JSON.stringify(raw)}.`,
    )
  }
}

/**
 * Parses a whole number, or a text such as `-1` or ` 42 `. Returns `null` for any other value and
 * outside of the range.
 */
function parseWholeNumber(raw: unknown, min: number, max: number): number | null {
  const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw
  const isValid = typeof value === 'number' && Number.isInteger(value)
  return isValid && value >= min && value <= max ? value : null
}

/** Returns the default and the reader of a setting whose value is a whole number. */
export function wholeNumber(defaultValue: number, min: number, max: number) {
  return { default: defaultValue, read: wholeNumberReader(min, max) }
}

/**
 * Returns the default and the reader of a setting with several choices. The first choice is the
 * default.
 */
export function choice<const Choice extends string>(first: Choice, ...others: readonly Choice[]) {
  const choices = [first, ...others]
  return {
    default: first,
    read(raw: unknown): Choice {
      const found = choices.find((name) => name === raw)
      if (found !== undefined) return found
      throw new Error(`must be one of ${choices.join(', ')}, not ${JSON.stringify(raw)}.`)
    },
  }
}

/** Reads the labels of the model itself: `Ada, Ada (bot)` → two labels, `on` → none. */
export function readSpeakerLabels(raw: unknown): readonly string[] | 'off' {
  if (raw === 'off') return raw
  return raw === 'on' ? [] : readCommaList(raw)
}

/** Reads a list: `a, b,` → `['a', 'b']`. Drops empty entries. */
export function readCommaList(raw: unknown): readonly string[] {
  return readText(raw)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
