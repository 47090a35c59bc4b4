/**
 * A text told by the items of its turn: what a request says in the words of an item that stands beside it
 * is not kept twice. Both are JSON, and long strings stand in both of them character by character; where
 * one writes them otherwise, they are simply kept.
 */
import { countCommonChars } from '../../core/text/text-diff.ts'

export interface DeduplicatedText {
  /** What no item has. */
  readonly left: string
  readonly copies: readonly ItemTextCopy[]
}

/** A stretch of an item's text, and where in what is left it belongs, in order. */
export interface ItemTextCopy {
  readonly at: number
  readonly position: number
  readonly from: number
  readonly length: number
}

/** `items` are the texts of their rows, by position. */
export function deduplicateAgainstItems(text: string, items: readonly string[]): DeduplicatedText {
  const copies: ItemTextCopy[] = []
  const pieces: string[] = []
  let done = 0
  let left = 0
  let misses = 0
  for (const [position, item] of items.entries()) {
    const end = item.lastIndexOf('"')
    for (let from = longStringFrom(item, 0); from !== null;) {
      // With its quote, so that it is found where a string begins.
      const begins = text.indexOf(item.slice(from - 1, from + PROBE_CHARS), done)
      const at = begins + 1
      const length = begins < 0 ? 0 : sameLength({ item, from, end }, text, at)
      if (length < LEAST_CHARS) {
        // Each reads the text up to its end.
        if ((misses += 1) > MAX_MISSES) return { left: pieces.join('') + text.slice(done), copies }
        break
      }
      pieces.push(text.slice(done, at))
      left += at - done
      copies.push({ at: left, position, from, length })
      done = at + length
      from = longStringFrom(item, from + length)
    }
  }
  return { left: pieces.join('') + text.slice(done), copies }
}

interface Stretch {
  readonly item: string
  readonly from: number
  /** Of the item's last string. */
  readonly end: number
}

/** Nearly always it is the last string of the item, up to its end. */
function sameLength({ item, from, end }: Stretch, text: string, at: number): number {
  const last = item.slice(from, end)
  const isSame = text.slice(at, at + last.length) === last
  return isSame ? last.length : countCommonChars(item, from, text, at)
}

/** `null` if an item is not there, or shorter than it was. */
export function restoreFromItems(
  { left, copies }: DeduplicatedText,
  textOf: (position: number) => string | null,
): string | null {
  const pieces: string[] = []
  let done = 0
  for (const { at, position, from, length } of copies) {
    const copied = textOf(position)?.slice(from, from + length) ?? ''
    if (copied.length !== length) return null
    pieces.push(left.slice(done, at), copied)
    done = at
  }
  return pieces.join('') + left.slice(done)
}

/** As they are kept: four numbers each. */
export function encodeCopies(copies: readonly ItemTextCopy[]): string {
  return JSON.stringify(
    copies.flatMap(({ at, position, from, length }) => [at, position, from, length]),
  )
}

export function decodeCopies(written: string): readonly ItemTextCopy[] {
  const numbers = JSON.parse(written) as readonly number[]
  return Array.from({ length: numbers.length / 4 }, (_, copy) => {
    const [at = 0, position = 0, from = 0, length = 0] = numbers.slice(4 * copy, 4 * copy + 4)
    return { at, position, from, length }
  })
}

/** What is shorter takes as much room to be told of. */
const LEAST_CHARS = 64
/** Of a string that is looked for. */
const PROBE_CHARS = 48
const MAX_MISSES = 8

/** Where the next long string of a JSON text begins, behind its quote. Those that are looked over are fields. */
function longStringFrom(json: string, from: number): number | null {
  for (let at = from; ;) {
    const field = json.indexOf('":"', at)
    if (field < 0) return null
    const start = field + 3
    at = shortStringEnd(json, start)
    if (at - start >= LEAST_CHARS) return start
  }
}

/** Where a string ends, as far as it is short. */
function shortStringEnd(json: string, start: number): number {
  const most = Math.min(json.length, start + LEAST_CHARS)
  for (let at = start; at < most; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return most
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
