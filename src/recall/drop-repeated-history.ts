/**
 * Leaves out what a client repeats of a history that it also names: some send the answer that they
 * go on from once more, in front of the outputs of its calls.
 *
 * What the client repeats ends where the history ends. What stands behind that is new, even under
 * an id that occurred before.
 */
import { textOf, type Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import { callEndOf, isCallOutput } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'
import { normalizeText } from './text/normalize-text.ts'
import { isModelItem } from '../core/items/is-model-item.ts'
import { findLowerBound } from './binary-search.ts'
import { listHostedItemKeys, listReasoningKeys } from './compare-items.ts'
import type { TransformResult } from '../context/transform-interface.ts'

export function dropRepeatedHistory(
  history: readonly Item[],
  items: readonly Item[],
): TransformResult {
  const border = items.findIndex((item) => !isModelItem(item) && !isCallOutput(item))
  const repeated = items.slice(0, border < 0 ? items.length : border)
  const tail = history.slice(history.findLastIndex(isUserMessage) + 1)
  const covered = coveredBy(tail, repeated)
  if (covered.size === 0) return { items, notes: [] }
  const notes: Note[] = []
  const kept = items.filter((_, at) => {
    if (!covered.has(at)) return true
    notes.push({ did: 'dropped', at, why: 'already-remembered' })
    return false
  })
  return { items: kept, notes }
}

/** From the end back: what is found last in the history is the last that is repeated. */
function coveredBy(tail: readonly Item[], repeated: readonly Item[]): ReadonlySet<number> {
  const covered = new Set<number>()
  if (repeated.length === 0 || tail.length === 0) return covered
  const said = openSaid(tail)
  const sought = repeated.map(namesOf)
  let [last, end] = [-1, 0]
  for (const [at, names] of sought.entries()) {
    const found = said.find(names, tail.length)
    if (found !== null && found.end >= end) [last, end] = [at, found.end]
  }
  for (let at = last; at >= 0; at -= 1) {
    const found = said.find(sought[at] ?? NAMELESS, end)
    if (found === null) continue
    covered.add(at)
    end = found.start
  }
  return covered
}

interface Names {
  /** Two items that have one in common are the same thing said. */
  readonly keys: readonly string[]
  /** `null` for what is no message, or one that says nothing. */
  readonly words: string | null
}

const NAMELESS: Names = { keys: [], words: null }

function namesOf(item: Item): Names {
  if (item.type === 'message') {
    const words = normalizeText(textOf(item.content))
    return words === '' ? NAMELESS : { keys: [`said ${words}`], words }
  }
  const end = callEndOf(item)
  const called =
    end === null || end.callId === '' ? [] : [`${end.side} ${end.family} ${end.callId}`]
  return { keys: [...called, ...listReasoningKeys(item), ...listHostedItemKeys(item)], words: null }
}

/** The items that say it, without those behind them. */
interface Span {
  readonly start: number
  readonly end: number
}

/** Where it is said for the last time in front of `end`. */
function openSaid(tail: readonly Item[]) {
  const names = tail.map((item) =>
    item.type === 'message' && !isSpoken(item) ? NAMELESS : namesOf(item),
  )
  const places = new Map<string, number[]>()
  for (const [at, { keys }] of names.entries()) {
    for (const key of keys) {
      const there = places.get(key)
      if (there === undefined) places.set(key, [at])
      else there.push(at)
    }
  }
  let looks = MOST_LOOKS
  const findJoined = (text: string, before: number): Span | null => {
    for (let end = before; end > 0 && looks > 0; end -= 1) {
      let left = text.length
      for (let start = end - 1; start >= 0; start -= 1) {
        const part = names[start]?.words ?? null
        looks -= 1 + (part ?? '').length / CHARS_A_LOOK
        if (part === null) {
          if (left < text.length && tail[start]?.type === 'reasoning') continue
          break
        }
        if (!text.endsWith(part, left)) break
        left -= part.length
        if (left === 0) return { start, end }
      }
    }
    return null
  }
  return {
    find({ keys, words: text }: Names, end: number): Span | null {
      let last = -1
      for (const key of keys) last = Math.max(last, lastBefore(places.get(key) ?? [], end))
      if (last >= 0) return { start: last, end: last + 1 }
      // Some clients make one message of all that was said between two calls.
      return text === null ? null : findJoined(text, end)
    },
  }
}

/** Where a client joins messages there are a few. Beyond this, what it repeats counts as new. */
const MOST_LOOKS = 100_000
const CHARS_A_LOOK = 100

function isSpoken(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant'
}

/** -1 if there is none. */
function lastBefore(places: readonly number[], end: number): number {
  return places[findLowerBound(places, end) - 1] ?? -1
}
