/** An answer in one piece: the same object that a stream ends with. */
import type { JsonObject } from '../../conversation/json.ts'
import type { Outcome } from '../../conversation/outcome.ts'
import type { Answering } from '../dialect.ts'
import { echoFields, progressFields, progressOf } from './echo.ts'
import { itemIds } from './item-ids.ts'
import { shownItem } from './shown-item.ts'
import { viewOf } from './view.ts'

export function whole(
  outcome: Outcome,
  answering: Answering,
  endedAtMs: number | null = null,
): JsonObject {
  const progress = progressOf(outcome, endedAtMs)
  const idOf = itemIds(answering.turnId)
  const view = viewOf(answering)
  const { items } = outcome
  const output = items.map((item, at) => {
    const cutOff = progress.status === 'incomplete' && at === items.length - 1
    return shownItem(item, idOf(item, at), cutOff ? 'incomplete' : 'completed', view)
  })
  return { ...progressFields(progress, answering), output, ...echoFields(answering) }
}
