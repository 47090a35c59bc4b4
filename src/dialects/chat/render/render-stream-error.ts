/**
 * How a chat stream ends that has failed: an error without choices, because clients overlook one
 * that stands next to them, and a clean `[DONE]`.
 */
import type { Failure } from '../../../core/stream-event.ts'
import { createErrorBody } from '../../../core/errors/gateway-error.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'

export function renderStreamError(failure: Failure): readonly SseMessage[] {
  return [{ data: JSON.stringify(createErrorBody(failure)) }, { data: '[DONE]' }]
}
