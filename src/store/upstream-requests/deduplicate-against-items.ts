/**
 * Removes from the body of a request the long strings that the items of its turn contain as well, so
 * that they are stored once. Both are JSON, and long strings are usually equal character by character.
 * Strings that are escaped differently stay in the body.
 */
import { countCommonChars } from '../../core/text/text-diff.ts'

export interface DeduplicatedText {
  /** The text without the copied parts. */
  readonly remaining: string
  readonly copies: readonly ItemTextCopy[]
}

/**
 * Part of an item's text (`from`, `length`) that belongs at `index` of the remaining text, in the item at `position`.
 * Copies are in order.
 */
export interface ItemTextCopy {
  readonly index: number
  readonly position: number
  readonly from: number
  readonly length: number
}

/** `items` are the texts of the item rows, by position. */
export function deduplicateAgainstItems(text: string, items: readonly string[]): DeduplicatedText {
  const copies: ItemTextCopy[] = []
  const pieces: string[] = []
  let copiedTo = 0
  let remainingChars = 0
  let missCount = 0
  for (const [position, item] of items.entries()) {
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
      copies.push({ index: remainingChars, position, from, length })
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
 * Returns the number of common characters. Most strings are the last of their item and match up to
 * its end, so that is tried first.
 */
function countEqualChars({ item, from, end }: ItemString, text: string, start: number): number {
  const last = item.slice(from, end)
  const isSame = text.slice(start, start + last.length) === last
  return isSame ? last.length : countCommonChars(item, from, text, start)
}

/** Returns `null` if an item is missing or shorter than before. */
export function restoreFromItems(
  { remaining, copies }: DeduplicatedText,
  readItem: (position: number) => string | null,
): string | null {
  const pieces: string[] = []
  let copiedTo = 0
  for (const { index, position, from, length } of copies) {
    const copied = readItem(position)?.slice(from, from + length) ?? ''
    if (copied.length !== length) return null
    pieces.push(remaining.slice(copiedTo, index), copied)
    copiedTo = index
  }
  return pieces.join('') + remaining.slice(copiedTo)
}

/** Encodes copies as a JSON list with four numbers for each. */
export function encodeCopies(copies: readonly ItemTextCopy[]): string {
  return JSON.stringify(
    copies.flatMap(({ index, position, from, length }) => [index, position, from, length]),
  )
}

export function decodeCopies(encoded: string): readonly ItemTextCopy[] {
  const numbers = JSON.parse(encoded) as readonly number[]
  return Array.from({ length: numbers.length / 4 }, (_, copy) => {
    const [index = 0, position = 0, from = 0, length = 0] = numbers.slice(4 * copy, 4 * copy + 4)
    return { index, position, from, length }
  })
}

/** Minimum length of a copy: describing a shorter one takes as much space as the text. */
const MIN_COPY_CHARS = 64
/** Number of characters that are searched for. */
const PROBE_CHARS = 48
const MAX_MISSES = 8

/**
 * Returns where the next long string value of a JSON text begins, after its quote. Field names are
 * skipped.
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

/** Returns the end of a string, or `start + MIN_COPY_CHARS` if it is longer. */
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
