/**
 * The items of a chain of turns as a list shows them. Each has an id that stays: its own, unless an
 * item before it has the same, else one that is derived from its place.
 */
import { itemId, type ItemPlace } from '../conversation/ids.ts'
import { isOfHouse } from '../conversation/house.ts'
import type { Item } from '../conversation/item.ts'
import type { JsonObject } from '../conversation/json.ts'
import { included } from '../dialect/responses/included.ts'
import { ownIdOf, typeNameOf } from '../dialect/responses/item-ids.ts'
import { listedItem } from '../dialect/responses/listed-item.ts'
import type { StoredTurn } from '../store/store.ts'
import type { Listed } from './paging.ts'

export interface ListedItem extends Listed {
  readonly id: string
  readonly isHidden: boolean
  readonly place: ItemPlace
  readonly show: () => JsonObject
}

/** Oldest first. Of the last turn either all, or only what its model was asked. */
export function listedItems(
  chain: readonly StoredTurn[],
  upTo: 'question' | 'answer',
  include: readonly string[],
): readonly ListedItem[] {
  const taken = new Set<string>()
  const words = new Set(include)
  const view = {
    rawReasoning: words.has('reasoning.raw'),
    sealedReasoning: words.has('reasoning.encrypted_content'),
  }
  const listed = (turn: StoredTurn, side: ItemPlace['side'], items: readonly Item[]) =>
    items.flatMap((item, index): readonly ListedItem[] => {
      if (isOfHouse(item)) return []
      const place = { turnId: turn.id, side, index }
      const id = freeId(item, place, taken)
      const isCutOff = side === 'out' && turn.state === 'incomplete' && index === items.length - 1
      const ending = isCutOff ? 'incomplete' : 'completed'
      const show = () => included(listedItem(item, id, ending, view), words)
      return [{ id, isHidden: turn.hidden.has(item), place, show }]
    })
  return chain.flatMap((turn, at) => {
    const questions = listed(turn, 'in', turn.input)
    const isAsked = upTo === 'question' && at === chain.length - 1
    return isAsked ? questions : [...questions, ...listed(turn, 'out', turn.output)]
  })
}

function freeId(item: Item, { turnId, side, index }: ItemPlace, taken: Set<string>): string {
  let id = ownIdOf(item)
  if (id === '' || taken.has(id)) id = itemId(typeNameOf(item), turnId, index, side)
  while (taken.has(id)) id += '_'
  taken.add(id)
  return id
}
