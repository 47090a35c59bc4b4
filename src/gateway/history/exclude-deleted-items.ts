/** Lists the items of a turn, except for items that a client has deleted from the conversation. */
import type { Item } from '../../core/item.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'

export function excludeDeletedItems(turn: StoredTurn): readonly Item[] {
  const items = [...turn.input, ...turn.output]
  return turn.hidden.size === 0 ? items : items.filter((item) => !turn.hidden.has(item))
}
