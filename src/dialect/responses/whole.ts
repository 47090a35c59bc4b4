/** An answer in one piece: the same object that a stream ends with. */
import type { Item } from '../../conversation/item.ts'
import type { JsonObject } from '../../conversation/json.ts'
import type { Outcome } from '../../conversation/outcome.ts'
import type { Answering } from '../dialect-interface.ts'
import { echoFields, progressFields, progressOf, type Progress } from './echo.ts'
import { itemIds } from './item-ids.ts'
import { shownItem } from './shown-item.ts'
import { viewOf } from './view.ts'

export function whole(
  outcome: Outcome,
  answering: Answering,
  endedAtMs: number | null = null,
): JsonObject {
  return shownAs(progressOf(outcome, endedAtMs), outcome.items, answering)
}

/** A response that has come so far. */
export function shownAs(
  progress: Progress,
  items: readonly Item[],
  answering: Answering,
): JsonObject {
  const idOf = itemIds(answering.turnId)
  const view = viewOf(answering)
  const output = items.map((item, at) => {
    const cutOff = progress.status === 'incomplete' && at === items.length - 1
    return shownItem(item, idOf(item, at), cutOff ? 'incomplete' : 'completed', view)
  })
  return { ...progressFields(progress, answering), output, ...echoFields(answering) }
}
