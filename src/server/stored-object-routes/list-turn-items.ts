/**
 * Lists the items of a chain of turns, except those of gateway tools, with ids that never change.
 * An item keeps its own id. If it has none, or an earlier item has the same id, an id is derived
 * from its position.
 */
import { isObject } from '../../core/json/json.ts'
import { isSummaryRequested } from '../../dialects/responses/render/reasoning-visibility.ts'
import type { ItemPosition } from '../../core/turn-derived-ids.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { removeUnrequestedFields } from '../../dialects/responses/render/remove-unrequested-fields.ts'
import { createItemIdAssigner } from '../../dialects/responses/render/assign-unique-item-ids.ts'
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
 * Lists the items, oldest first. With `lastListedPart: 'question'`, the output of the last turn is
 * omitted.
 */
export function listTurnItems(
  chain: readonly StoredTurn[],
  lastListedPart: 'question' | 'answer',
  include: readonly string[],
): readonly ListedItem[] {
  const assignId = createItemIdAssigner()
  const included = new Set(include)
  const visibility = {
    showsRawReasoning: included.has('reasoning.raw'),
    showsEncryptedReasoning: included.has('reasoning.encrypted_content'),
  }
  const listItems = (turn: StoredTurn, side: ItemPosition['side'], items: readonly Item[]) =>
    items.flatMap((item, index): readonly ListedItem[] => {
      const showsSummary = side === 'in' || requestsSummary(turn.request)
      if (isGatewayToolItem(item)) return []
      const position = { turnId: turn.id, side, index }
      const id = assignId(item, position)
      const isCutOff = side === 'out' && turn.state === 'incomplete' && index === items.length - 1
      const ending = isCutOff ? 'incomplete' : 'completed'
      const render = () =>
        removeUnrequestedFields(
          renderListedItem(item, id, ending, { ...visibility, showsSummary }),
          included,
        )
      return [{ id, isHidden: turn.hidden.has(item), position, render }]
    })
  return chain.flatMap((turn, index) => {
    const input = listItems(turn, 'in', turn.input)
    const omitsOutput = lastListedPart === 'question' && index === chain.length - 1
    return omitsOutput ? input : [...input, ...listItems(turn, 'out', turn.output)]
  })
}

/** True if the response of a stored request shows the summaries of its reasoning. */
function requestsSummary({ reasoning }: JsonObject): boolean {
  const { summary, generate_summary: legacy } = isObject(reasoning) ? reasoning : {}
  return isSummaryRequested(summary ?? legacy ?? null)
}
