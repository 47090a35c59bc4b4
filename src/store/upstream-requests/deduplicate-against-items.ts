/**
 * Removes long strings from the body of a request if the items of its turn contain them as well, so
 * that they are stored once. Body and items are JSON, and their long strings are usually equal
 * character by character. Strings that are escaped differently stay in the body.
 */
import { countCommonChars } from '../../core/text/text-diff.ts'

export interface DeduplicatedText {
  /** The text without the copied parts. */
  readonly remaining: string
  readonly copies: readonly ItemTextCopy[]
}

/** A string that was removed from a body, because an item contains it. */
export interface ItemTextCopy {
  /** Index in the remaining text at which the string is inserted again. */
  readonly insertAt: number
  /** Position of the item in its turn. */
  readonly itemPosition: number
  /** Index in the item's JSON at which the string begins. */
  readonly itemOffset: number
  /** Number of characters of the string. */
  readonly length: number
}

/** Removes strings from `text`, a request body. `items` are the JSON of the turn's items, by position. */
export function deduplicateAgainstItems(text: string, items: readonly string[]): DeduplicatedText {
  const copies: ItemTextCopy[] = []
  const pieces: string[] = []
  let copiedTo = 0
  let remainingChars = 0
  let missCount = 0
  for (const [itemPosition, item] of items.entries()) {
    const end = item.lastIndexOf('"')
    for (let from = findLongString(item, 0); from !== null;) {
      // The probe includes the opening quote, so that it matches only where a string begins.
      const probeIndex = text.indexOf(item.slice(from - 1, from + PROBE_CHARS), copiedTo)
      const start = probeIndex + 1
      const length = probeIndex < 0 ? 0 : countEqualChars({ item, from, end }, text, start)
      if (length < MIN_COPY_CHARS) {
        // Each miss scans the text to its end, so the number of misses is limited.
        if ((missCount += 1) > MAX_MISSES)
          return { remaining: pieces.join('') + text.slice(copiedTo), copies }
        break
      }
      pieces.push(text.slice(copiedTo, start))
      remainingChars += start - copiedTo
      copies.push({ insertAt: remainingChars, itemPosition, itemOffset: from, length })
      copiedTo = start + length
      from = findLongString(item, from + length)
    }
  }
  return { remaining: pieces.join('') + text.slice(copiedTo), copies }
}

interface ItemString {
  readonly item: string
  readonly from: number
  /** End of the item's last string. */
  readonly end: number
}

/**
 * Counts how many characters of the item's string (from `from`) equal the text (from `start`). Most
 * strings are the last of their item and equal up to the end, so a comparison of the complete string
 * comes first: it is faster than counting.
 */
function countEqualChars({ item, from, end }: ItemString, text: string, start: number): number {
  const last = item.slice(from, end)
  const isSame = text.slice(start, start + last.length) === last
  return isSame ? last.length : countCommonChars(item, from, text, start)
}

/** Restores the body. Returns `null` if an item is missing or shorter than it was. */
export function restoreFromItems(
  { remaining, copies }: DeduplicatedText,
  readItem: (position: number) => string | null,
): string | null {
  const pieces: string[] = []
  let copiedTo = 0
  for (const { insertAt, itemPosition, itemOffset, length } of copies) {
    const copied = readItem(itemPosition)?.slice(itemOffset, itemOffset + length) ?? ''
    if (copied.length !== length) return null
    pieces.push(remaining.slice(copiedTo, insertAt), copied)
    copiedTo = insertAt
  }
  return pieces.join('') + remaining.slice(copiedTo)
}

/** Encodes copies as a JSON list of numbers, four for each copy, e.g. `[120,0,31,5000]`. */
export function encodeCopies(copies: readonly ItemTextCopy[]): string {
  return JSON.stringify(
    copies.flatMap((copy) => [copy.insertAt, copy.itemPosition, copy.itemOffset, copy.length]),
  )
}

/** Decodes copies; an empty text contains none. */
export function decodeCopies(encoded: string): readonly ItemTextCopy[] {
  const numbers = JSON.parse(encoded === '' ? '[]' : encoded) as readonly number[]
  return Array.from({ length: numbers.length / 4 }, (_, copy) => {
    const fields = numbers.slice(4 * copy, 4 * copy + 4)
    const [insertAt = 0, itemPosition = 0, itemOffset = 0, length = 0] = fields
    return { insertAt, itemPosition, itemOffset, length }
  })
}

/** Shorter strings stay in the body, because describing a copy would take as much space. */
const MIN_COPY_CHARS = 64
/** Number of characters at the start of an item's string that are searched for in the body. */
const PROBE_CHARS = 48
const MAX_MISSES = 8

/**
 * Returns the index after the opening quote of the next long string value of a JSON text. Skips
 * field names.
 */
function findLongString(json: string, from: number): number | null {
  for (let index = from; ;) {
    const field = json.indexOf('":"', index)
    if (field < 0) return null
    const start = field + 3
    index = findStringEnd(json, start)
    if (index - start >= MIN_COPY_CHARS) return start
  }
}

/** Returns the end of a string, but at most `start + MIN_COPY_CHARS`. */
function findStringEnd(json: string, start: number): number {
  const limit = Math.min(json.length, start + MIN_COPY_CHARS)
  for (let index = start; index < limit; index += 1) {
    const code = json.charCodeAt(index)
    if (code === QUOTE) return index
    if (code === BACKSLASH) index += 1
  }
  return limit
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
