/**
 * Renders the end of a failed chat stream: an error and `[DONE]`. The error has no field `choices`,
 * because clients ignore an error in a chunk with choices.
 */
import { createErrorBody } from '../../../core/errors/gateway-error.ts'
import type { Failure } from '../../../core/stream-event.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'

export function renderStreamError(failure: Failure): readonly SseMessage[] {
  return [{ data: JSON.stringify(createErrorBody(failure)) }, { data: '[DONE]' }]
}
