/**
 * The items of a chain of turns as a list shows them. Each has an id that stays: its own, unless an
 * item before it has the same, else one that is derived from its place.
 */
import { itemId, type ItemPlace } from '../../core/turn-derived-ids.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { applyInclude } from '../../dialects/responses/render/apply-include.ts'
import {
  originalItemId,
  itemTypeName,
} from '../../dialects/responses/render/assign-output-item-ids.ts'
import { renderListedItem } from '../../dialects/responses/render/render-listed-item.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { PageEntry } from './paging.ts'

export interface ListedItem extends PageEntry {
  readonly id: string
  readonly isHidden: boolean
  readonly place: ItemPlace
  readonly show: () => JsonObject
}

/** Oldest first. Of the last turn either all, or only what its model was asked. */
export function listTurnItems(
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
      if (isGatewayToolItem(item)) return []
      const place = { turnId: turn.id, side, index }
      const id = freeId(item, place, taken)
      const isCutOff = side === 'out' && turn.state === 'incomplete' && index === items.length - 1
      const ending = isCutOff ? 'incomplete' : 'completed'
      const show = () => applyInclude(renderListedItem(item, id, ending, view), words)
      return [{ id, isHidden: turn.hidden.has(item), place, show }]
    })
  return chain.flatMap((turn, at) => {
    const questions = listed(turn, 'in', turn.input)
    const isAsked = upTo === 'question' && at === chain.length - 1
    return isAsked ? questions : [...questions, ...listed(turn, 'out', turn.output)]
  })
}

function freeId(item: Item, { turnId, side, index }: ItemPlace, taken: Set<string>): string {
  let id = originalItemId(item)
  if (id === '' || taken.has(id)) id = itemId(itemTypeName(item), turnId, index, side)
  while (taken.has(id)) id += '_'
  taken.add(id)
  return id
}
