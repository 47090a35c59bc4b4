/**
 * Where the items of an answer stand for whoever is told it, and where they are kept: what is of the
 * house is kept among the others, and told to nobody.
 */
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'

export interface ClientOutputIndexes {
  /** The places of those items that are kept and told, for who is told them. */
  readonly shown: ReadonlySet<number>
  readonly keptAt: (shown: number) => number
}

/** `items` are those that are kept at the places. */
export function mapClientOutputIndexes(
  kept: ReadonlySet<number>,
  items: readonly Item[],
): ClientOutputIndexes {
  const places = [...kept].toSorted((one, other) => one - other)
  // One that cannot be read leaves nobody knowing which is which.
  const isKnown = places.length === items.length
  const hidden = isKnown ? places.filter((_, at) => isHouseItem(items[at])) : []
  if (hidden.length === 0) return { shown: kept, keptAt: (shown) => shown }
  const before = (place: number) => hidden.filter((other) => other < place).length
  const told = places.filter((place) => !hidden.includes(place))
  return {
    shown: new Set(told.map((place) => place - before(place))),
    keptAt: (shown) => hidden.reduce((place, own) => (own <= place ? place + 1 : place), shown),
  }
}

function isHouseItem(item: Item | undefined): boolean {
  return item !== undefined && isGatewayToolItem(item)
}
