/** An answer in one piece: the same object that a stream ends with. */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'
import type { Answering } from '../../../core/ports/dialect-interface.ts'
import { echoFields, progressFields, progressOf, type Progress } from './render-response-fields.ts'
import { itemIds } from './assign-output-item-ids.ts'
import { shownItem } from './render-item.ts'
import { viewOf } from './reasoning-visibility.ts'

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
