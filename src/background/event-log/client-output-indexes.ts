/**
 * Maps output indexes between the client's view of an answer and the stored answer, which also has
 * gateway tool items. If the stored items are [text, gateway call, text], stored index 2 is client
 * index 1.
 */
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'

export interface ClientOutputIndexes {
  /** Client indexes of the items that are already stored and that the client sees. */
  readonly storedClientIndexes: ReadonlySet<number>
  readonly toStoredIndex: (clientIndex: number) => number
}

/** Maps the indexes of an answer. `items` are its stored items, in order of `storedIndexes`. */
export function mapClientOutputIndexes(
  storedIndexes: ReadonlySet<number>,
  items: readonly Item[],
): ClientOutputIndexes {
  const indexes = [...storedIndexes].toSorted((one, other) => one - other)
  // If a stored item is unreadable, `items` is shorter than `indexes`, and no item can be matched.
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
