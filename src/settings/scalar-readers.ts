/**
 * Reads the value of a setting, which is text in the environment and may be anything in a file. A
 * fault is an Error whose message completes "NAME …".
 */
import { errorMessage } from '../core/errors/gateway-error.ts'

type Raw = unknown

export type Environment = Readonly<Record<string, unknown>>

/** What a reader has thrown: each completes "NAME …". */
export function listFaultMessages(thrown: unknown): readonly string[] {
  return thrown instanceof AggregateError ? thrown.errors.map(errorMessage) : [errorMessage(thrown)]
}

/** Reads each of a list. The faults of all, and those found `before`, are thrown together. */
export function readAllOrThrow<One, Value>(
  list: readonly One[],
  read: (one: One, at: number) => Value,
  before: readonly string[] = [],
): readonly Value[] {
  const faults = [...before]
  const values = list.flatMap((one, at) => {
    try {
      return [read(one, at)]
    } catch (thrown) {
      faults.push(...listFaultMessages(thrown))
      return []
    }
  })
  if (faults.length > 0) throw allOf(faults)
  return values
}

/** With `words` in front of every fault. */
export function prefixFaults<Value>(words: string, read: () => Value): Value {
  try {
    return read()
  } catch (thrown) {
    throw allOf(listFaultMessages(thrown).map((fault) => `${words} ${fault}`))
  }
}

function allOf(faults: readonly string[]): Error {
  const errors = faults.map((fault) => new Error(fault))
  return new AggregateError(errors, faults.join(' '))
}

export function readText(raw: Raw): string {
  if (typeof raw === 'string') return raw
  throw new Error('must be a text.')
}

export function wholeNumberReader(min: number, max: number) {
  return (raw: Raw): number => {
    const value = wholeIn(raw, min, max)
    if (value !== null) return value
    throw new Error(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(raw)}.`)
  }
}

export function wholeNumberOrOffReader(min: number, max: number) {
  return (raw: Raw): number | 'off' => {
    const value = raw === 'off' ? raw : wholeIn(raw, min, max)
    if (value !== null) return value
    throw new Error(
      `must be a whole number from ${min} to ${max}, or off, not ${JSON.stringify(raw)}.`,
    )
  }
}

function wholeIn(raw: Raw, min: number, max: number): number | null {
  const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
    ? (value as number)
    : null
}

export function choiceReader<const Word extends string>(...words: readonly Word[]) {
  return (raw: Raw): Word => {
    const found = words.find((word) => word === raw)
    if (found !== undefined) return found
    throw new Error(`must be one of ${words.join(', ')}, not ${JSON.stringify(raw)}.`)
  }
}

/** `on` is without any. */
export function readSpeakerLabels(raw: Raw): readonly string[] | 'off' {
  const words = readText(raw)
  if (words === 'off' || words === 'on') return words === 'off' ? words : []
  return readCommaList(words)
}

/** `a, b` as a list; nothing between two commas is left out. */
export function readCommaList(raw: Raw): readonly string[] {
  return readText(raw)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
