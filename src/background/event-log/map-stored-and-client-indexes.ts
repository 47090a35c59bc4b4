/**
 * Maps output indexes of the answer that the client sees to those of the stored answer, and back. Only the
 * stored answer contains gateway tool items. If the stored items are [text, gateway call, text], stored
 * index 2 is client index 1.
 */
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'

export interface ClientOutputIndexes {
  /** Client indexes of the stored items, without those that the client does not see. */
  readonly storedClientIndexes: ReadonlySet<number>
  readonly toStoredIndex: (clientIndex: number) => number
}

/** Maps the indexes of an answer. `items` are its stored items, in order of `storedIndexes`. */
export function mapClientOutputIndexes(
  storedIndexes: ReadonlySet<number>,
  items: readonly Item[],
): ClientOutputIndexes {
  const indexes = [...storedIndexes].toSorted((one, other) => one - other)
  // If a stored item is unreadable, `items` is shorter than `indexes`. It is then unknown which index an
  // item has, so no item counts as hidden.
  const isMatched = indexes.length === items.length
  const hidden = indexes.filter((_, position) => {
    const item = isMatched ? items[position] : undefined
    return item !== undefined && isGatewayToolItem(item)
  })
  if (hidden.length === 0)
    return { storedClientIndexes: storedIndexes, toStoredIndex: (index) => index }
  const countHiddenBefore = (index: number) => hidden.filter((other) => other < index).length
  const visible = indexes.filter((index) => !hidden.includes(index))
  return {
    storedClientIndexes: new Set(visible.map((index) => index - countHiddenBefore(index))),
    toStoredIndex: (clientIndex) =>
      hidden.reduce(
        (index, hiddenIndex) => (hiddenIndex <= index ? index + 1 : index),
        clientIndex,
      ),
  }
}
