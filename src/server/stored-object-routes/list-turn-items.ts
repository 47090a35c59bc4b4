/**
 * Lists the items of a chain of turns with ids that never change. An item has its own id, or an id
 * derived from its position if it has none or an earlier item has the same id.
 */
import { itemId, type ItemPosition } from '../../core/turn-derived-ids.ts'
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
  readonly position: ItemPosition
  readonly render: () => JsonObject
}

/**
 * Lists the items, oldest first. With `lastPart: 'question'`, leaves out the output of the last
 * turn.
 */
export function listTurnItems(
  chain: readonly StoredTurn[],
  lastPart: 'question' | 'answer',
  include: readonly string[],
): readonly ListedItem[] {
  const usedIds = new Set<string>()
  const included = new Set(include)
  const view = {
    rawReasoning: included.has('reasoning.raw'),
    sealedReasoning: included.has('reasoning.encrypted_content'),
  }
  const listItems = (turn: StoredTurn, side: ItemPosition['side'], items: readonly Item[]) =>
    items.flatMap((item, index): readonly ListedItem[] => {
      if (isGatewayToolItem(item)) return []
      const position = { turnId: turn.id, side, index }
      const id = chooseUniqueId(item, position, usedIds)
      const isCutOff = side === 'out' && turn.state === 'incomplete' && index === items.length - 1
      const ending = isCutOff ? 'incomplete' : 'completed'
      const render = () => applyInclude(renderListedItem(item, id, ending, view), included)
      return [{ id, isHidden: turn.hidden.has(item), position, render }]
    })
  return chain.flatMap((turn, index) => {
    const input = listItems(turn, 'in', turn.input)
    const omitsOutput = lastPart === 'question' && index === chain.length - 1
    return omitsOutput ? input : [...input, ...listItems(turn, 'out', turn.output)]
  })
}

function chooseUniqueId(
  item: Item,
  { turnId, side, index }: ItemPosition,
  usedIds: Set<string>,
): string {
  let id = originalItemId(item)
  if (id === '' || usedIds.has(id)) id = itemId(itemTypeName(item), turnId, index, side)
  while (usedIds.has(id)) id += '_'
  usedIds.add(id)
  return id
}
