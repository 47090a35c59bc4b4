/**
 * Renders the end of a failed chat stream: an error without `choices`, because clients ignore an error
 * next to them, and `[DONE]`.
 */
import type { Failure } from '../../../core/stream-event.ts'
import { createErrorBody } from '../../../core/errors/gateway-error.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'

export function renderStreamError(failure: Failure): readonly SseMessage[] {
  return [{ data: JSON.stringify(createErrorBody(failure)) }, { data: '[DONE]' }]
}
