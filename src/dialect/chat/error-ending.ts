/**
 * How a chat stream ends that has failed: an error without choices, because clients overlook one
 * that stands next to them, and a clean `[DONE]`.
 */
import type { Failure } from '../../conversation/event.ts'
import { errorBody } from '../../errors.ts'
import type { SseMessage } from '../../stream/stage.ts'

export function errorEnding(failure: Failure): readonly SseMessage[] {
  return [{ data: JSON.stringify(errorBody(failure)) }, { data: '[DONE]' }]
}
