/** An answer in one piece: the same object that a stream ends with. */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import {
  renderRequestFields,
  renderProgressFields,
  progressFromOutcome,
  type ResponseProgress,
} from './render-response-fields.ts'
import { createItemIdAssigner } from './assign-output-item-ids.ts'
import { renderItem } from './render-item.ts'
import { decideReasoningVisibility } from './reasoning-visibility.ts'

export function renderResponse(
  outcome: Outcome,
  answering: AnswerContext,
  endedAtMs: number | null = null,
): JsonObject {
  return renderResponseProgress(progressFromOutcome(outcome, endedAtMs), outcome.items, answering)
}

/** A response that has come so far. */
export function renderResponseProgress(
  progress: ResponseProgress,
  items: readonly Item[],
  answering: AnswerContext,
): JsonObject {
  const idOf = createItemIdAssigner(answering.turnId)
  const view = decideReasoningVisibility(answering)
  const output = items.map((item, at) => {
    const cutOff = progress.status === 'incomplete' && at === items.length - 1
    return renderItem(item, idOf(item, at), cutOff ? 'incomplete' : 'completed', view)
  })
  return { ...renderProgressFields(progress, answering), output, ...renderRequestFields(answering) }
}
