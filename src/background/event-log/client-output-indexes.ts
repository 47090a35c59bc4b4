/**
 * Maps output indexes between an answer as its client sees it and as it is stored. The store also has
 * gateway tool items, which the client's view leaves out: if item 1 of 3 is one, stored index 2 →
 * client index 1.
 */
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'

export interface ClientOutputIndexes {
  /** Client indexes of the stored items that the client sees. */
  readonly visible: ReadonlySet<number>
  readonly toStoredIndex: (clientIndex: number) => number
}

/** `items` are the stored items at the indexes `stored`, in order. */
export function mapClientOutputIndexes(
  stored: ReadonlySet<number>,
  items: readonly Item[],
): ClientOutputIndexes {
  const indexes = [...stored].toSorted((one, other) => one - other)
  // If an item could not be read, the lists differ in length and cannot be matched.
  const isMatched = indexes.length === items.length
  const hidden = indexes.filter((_, position) => {
    const item = isMatched ? items[position] : undefined
    return item !== undefined && isGatewayToolItem(item)
  })
  if (hidden.length === 0) return { visible: stored, toStoredIndex: (index) => index }
  const countHiddenBefore = (index: number) => hidden.filter((other) => other < index).length
  const visible = indexes.filter((index) => !hidden.includes(index))
  return {
    visible: new Set(visible.map((index) => index - countHiddenBefore(index))),
    toStoredIndex: (clientIndex) =>
      hidden.reduce(
        (index, hiddenIndex) => (hiddenIndex <= index ? index + 1 : index),
        clientIndex,
      ),
  }
}
