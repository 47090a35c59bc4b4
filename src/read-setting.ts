/**
 * Reads the value of a setting, which is text in the environment and may be anything in a file. A
 * fault is an Error whose message completes "NAME …".
 */
type Raw = unknown

export function text(raw: Raw): string {
  if (typeof raw === 'string') return raw
  throw new Error('must be a text.')
}

export function wholeNumber(min: number, max: number) {
  return (raw: Raw): number => {
    const value = typeof raw === 'string' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw
    if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) {
      return value as number
    }
    throw new Error(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(raw)}.`)
  }
}

export function oneOf<const Word extends string>(...words: readonly Word[]) {
  return (raw: Raw): Word => {
    const found = words.find((word) => word === raw)
    if (found !== undefined) return found
    throw new Error(`must be one of ${words.join(', ')}, not ${JSON.stringify(raw)}.`)
  }
}

/** `on` is without any. */
export function ownLabels(raw: Raw): readonly string[] | 'off' {
  const words = text(raw)
  if (words === 'off' || words === 'on') return words === 'off' ? words : []
  return commaList(words)
}

/** `a, b` as a list; nothing between two commas is left out. */
export function commaList(raw: Raw): readonly string[] {
  return text(raw)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
