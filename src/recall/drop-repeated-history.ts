/**
 * Drops items that a client sends again although its request names the stored conversation by id
 * (`previous_response_id`). For example, some clients repeat the previous answer before the outputs
 * of its tool calls.
 *
 * Only items before the request's first user message or instruction can be repetitions, and only of
 * items after the last stored user message. The last repetition is the one that matches the latest
 * stored item. Items after it are new, even if they have a call id that occurred before.
 */
import { textOf, type Item } from '../core/item.ts'
import { readToolCallIdentity, isToolCallOutput } from '../core/items/tool-call-pairs.ts'
import { isUserMessage } from '../core/items/rounds-and-pinned-items.ts'
import { normalizeText } from './text/normalize-text.ts'
import { isItemOfAnswer } from '../core/items/is-item-of-answer.ts'
import { findLowerBound } from './map-and-list-helpers.ts'
import { listHostedItemKeys, listReasoningKeys } from './compare-items.ts'
import { filterItems } from '../context/edit-items.ts'
import type { TransformResult } from '../context/transform-interface.ts'
import { appendToGroup } from './map-and-list-helpers.ts'

/**
 * Returns `clientItems` without the items that repeat the stored conversation `history`, with a
 * note for each of them.
 */
export function dropRepeatedHistory(
  history: readonly Item[],
  clientItems: readonly Item[],
): TransformResult {
  const repeatEnd = clientItems.findIndex(
    (item) => !isItemOfAnswer(item) && !isToolCallOutput(item),
  )
  const repeated = clientItems.slice(0, repeatEnd < 0 ? clientItems.length : repeatEnd)
  const tail = history.slice(history.findLastIndex(isUserMessage) + 1)
  const repeatedIndexes = findRepeatedItems(tail, repeated)
  return filterItems(clientItems, (index) => !repeatedIndexes.has(index), 'already-remembered')
}

/**
 * Returns the indexes of the client's items (`repeated`) that repeat the last stored items
 * (`tail`). The search starts with the client's item that matches the latest stored item, and goes
 * backward through both lists. An item that matches only out of order counts as new.
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
  /**
   * Keys that identify the item, e.g. `call function call_1`. A stored and a client's item that
   * share a key count as the same item.
   */
  readonly keys: readonly string[]
  /**
   * Text of a message without whitespace and markers, to find it in a message that a client joined
   * from several. `null` for other items and for messages without text.
   */
  readonly text: string | null
}

const NO_CALL = { side: '', toolKind: '', callId: '' }
const NO_KEYS: ItemKeys = { keys: [], text: null }

function listItemKeys(item: Item): ItemKeys {
  if (item.type === 'message') {
    const text = normalizeText(textOf(item.content))
    return text === '' ? NO_KEYS : { keys: [`said ${text}`], text }
  }
  const { side, toolKind, callId } = readToolCallIdentity(item) ?? NO_CALL
  const callKeys = callId === '' ? [] : [`${side} ${toolKind} ${callId}`]
  return {
    keys: [...callKeys, ...listReasoningKeys(item), ...listHostedItemKeys(item)],
    text: null,
  }
}

/** A range of stored items: from index `start` up to, but not including, index `end`. */
interface ItemRange {
  readonly start: number
  readonly end: number
}

/**
 * Indexes the last stored items, so that they are not read again for each item of the client.
 * `find` searches for a client's item before the index `searchEnd`: it returns the last stored item
 * with one of its keys, or the last consecutive messages that the client joined into it.
 */
function indexHistoryTail(tail: readonly Item[]) {
  const itemKeys = tail.map((item) =>
    item.type === 'message' && item.role !== 'assistant' ? NO_KEYS : listItemKeys(item),
  )
  const positions = new Map<string, number[]>()
  for (const [index, { keys }] of itemKeys.entries()) {
    for (const key of keys) appendToGroup(positions, key, index)
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
      // Some clients join all text between two tool calls into one message.
      return text === null ? null : findJoined(text, searchEnd)
    },
  }
}

/**
 * Max number of comparisons in the search for messages that a client joined into one. Without this
 * limit, the cost would be quadratic. Beyond it, a message that repeats joined messages counts as
 * new.
 */
const MAX_COMPARISONS = 100_000
const CHARS_PER_COMPARISON = 100

/**
 * Returns the highest of the ascending positions below `end`, e.g. `([2, 5, 9], 9)` → 5; -1 if
 * there is none.
 */
function findLastBefore(positions: readonly number[], end: number): number {
  return positions[findLowerBound(positions, end) - 1] ?? -1
}
