/**
 * Drops items that a client sends again although the request names their history by id
 * (`previous_response_id`). For example, some clients repeat the previous answer before the outputs
 * of its calls.
 *
 * The repeated items end with the last item of the history. Every later item is new, even with an
 * id that occurred before.
 */
import { textOf, type Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import { readToolCallIdentity, isToolCallOutput } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'
import { normalizeText } from './text/normalize-text.ts'
import { isModelItem } from '../core/items/is-model-item.ts'
import { findLowerBound } from './binary-search.ts'
import { listHostedItemKeys, listReasoningKeys } from './compare-items.ts'
import type { TransformResult } from '../context/transform-interface.ts'
import { appendToGroup } from './append-to-group.ts'

export function dropRepeatedHistory(
  history: readonly Item[],
  items: readonly Item[],
): TransformResult {
  const repeatEnd = items.findIndex((item) => !isModelItem(item) && !isToolCallOutput(item))
  const repeated = items.slice(0, repeatEnd < 0 ? items.length : repeatEnd)
  const tail = history.slice(history.findLastIndex(isUserMessage) + 1)
  const repeatedIndexes = findRepeatedItems(tail, repeated)
  if (repeatedIndexes.size === 0) return { items, notes: [] }
  const notes: Note[] = []
  const remaining = items.filter((_, index) => {
    if (!repeatedIndexes.has(index)) return true
    notes.push({ did: 'dropped', at: index, why: 'already-remembered' })
    return false
  })
  return { items: remaining, notes }
}

/**
 * Returns the indexes of items that repeat the history, in its order. The search goes backward from
 * the item that matches closest to the end of the history.
 */
function findRepeatedItems(tail: readonly Item[], repeated: readonly Item[]): ReadonlySet<number> {
  const repeatedIndexes = new Set<number>()
  if (repeated.length === 0 || tail.length === 0) return repeatedIndexes
  const tailIndex = indexHistoryTail(tail)
  const repeatedKeys = repeated.map(listItemKeys)
  let [lastRepeated, rangeEnd] = [-1, 0]
  for (const [index, itemKeys] of repeatedKeys.entries()) {
    const range = tailIndex.find(itemKeys, tail.length)
    if (range !== null && range.end >= rangeEnd) [lastRepeated, rangeEnd] = [index, range.end]
  }
  for (let index = lastRepeated; index >= 0; index -= 1) {
    const range = tailIndex.find(repeatedKeys[index] ?? NO_KEYS, rangeEnd)
    if (range === null) continue
    repeatedIndexes.add(index)
    rangeEnd = range.start
  }
  return repeatedIndexes
}

interface ItemKeys {
  /** Two items that share a key have the same content. */
  readonly keys: readonly string[]
  /** Normalized text of a message; `null` for other items and for messages without text. */
  readonly text: string | null
}

const NO_KEYS: ItemKeys = { keys: [], text: null }

function listItemKeys(item: Item): ItemKeys {
  if (item.type === 'message') {
    const text = normalizeText(textOf(item.content))
    return text === '' ? NO_KEYS : { keys: [`said ${text}`], text }
  }
  const callEnd = readToolCallIdentity(item)
  const callKeys =
    callEnd === null || callEnd.callId === ''
      ? []
      : [`${callEnd.side} ${callEnd.toolKind} ${callEnd.callId}`]
  return {
    keys: [...callKeys, ...listReasoningKeys(item), ...listHostedItemKeys(item)],
    text: null,
  }
}

/** Items from `start` up to, but not including, `end`. */
interface ItemRange {
  readonly start: number
  readonly end: number
}

/** Returns a search for the last items before an index that have one of the keys or, joined, the text. */
function indexHistoryTail(tail: readonly Item[]) {
  const itemKeys = tail.map((item) =>
    item.type === 'message' && !isAssistantMessage(item) ? NO_KEYS : listItemKeys(item),
  )
  const positions = new Map<string, number[]>()
  for (const [index, { keys }] of itemKeys.entries()) {
    for (const key of keys) {
      appendToGroup(positions, key, index)
    }
  }
  let remainingComparisons = MAX_COMPARISONS
  const findJoined = (text: string, searchEnd: number): ItemRange | null => {
    for (let rangeEnd = searchEnd; rangeEnd > 0 && remainingComparisons > 0; rangeEnd -= 1) {
      let remainingChars = text.length
      for (let start = rangeEnd - 1; start >= 0; start -= 1) {
        const partText = itemKeys[start]?.text ?? null
        remainingComparisons -= 1 + (partText ?? '').length / CHARS_PER_COMPARISON
        if (partText === null) {
          if (remainingChars < text.length && tail[start]?.type === 'reasoning') continue
          break
        }
        if (!text.endsWith(partText, remainingChars)) break
        remainingChars -= partText.length
        if (remainingChars === 0) return { start, end: rangeEnd }
      }
    }
    return null
  }
  return {
    find({ keys, text }: ItemKeys, searchEnd: number): ItemRange | null {
      const found = keys.map((key) => findLastBefore(positions.get(key) ?? [], searchEnd))
      const start = Math.max(-1, ...found)
      if (start >= 0) return { start, end: start + 1 }
      // Some clients join all text between two calls into one message.
      return text === null ? null : findJoined(text, searchEnd)
    },
  }
}

/**
 * Max comparisons in the search for joined messages, which is quadratic. Beyond the limit, a repeated
 * message counts as new.
 */
const MAX_COMPARISONS = 100_000
const CHARS_PER_COMPARISON = 100

function isAssistantMessage(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant'
}

/** Returns -1 if no position is smaller than `end`. */
function findLastBefore(positions: readonly number[], end: number): number {
  return positions[findLowerBound(positions, end) - 1] ?? -1
}
