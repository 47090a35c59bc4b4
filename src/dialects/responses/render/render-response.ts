/**
 * Renders a non-streamed answer: the same response object that is in the last event of a stream.
 */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/collect-answer-outcome.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import {
  renderRequestFields,
  renderProgressFields,
  convertOutcomeToProgress,
  type ResponseProgress,
} from './render-response-fields.ts'
import { createItemIdAssigner } from './assign-unique-item-ids.ts'
import { renderItem } from './render-item.ts'
import { decideReasoningVisibility } from './reasoning-visibility.ts'

export function renderResponse(
  outcome: Outcome,
  answerContext: AnswerContext,
  endedAtMs: number | null = null,
): JsonObject {
  const progress = convertOutcomeToProgress(outcome, endedAtMs)
  return renderResponseProgress(progress, outcome.items, answerContext)
}

/** Renders a response that may still be in progress, e.g. of a background run. */
export function renderResponseProgress(
  progress: ResponseProgress,
  items: readonly Item[],
  answerContext: AnswerContext,
): JsonObject {
  const assignId = createItemIdAssigner()
  const visibility = decideReasoningVisibility(answerContext)
  const output = items.map((item, index) => {
    const isCutOff = progress.status === 'incomplete' && index === items.length - 1
    const status = isCutOff ? 'incomplete' : 'completed'
    const id = assignId(item, { turnId: answerContext.turnId, side: 'out', index })
    return renderItem(item, id, status, visibility)
  })
  return {
    ...renderProgressFields(progress, answerContext),
    output,
    ...renderRequestFields(answerContext),
  }
}
