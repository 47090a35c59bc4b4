/** Why an answer ended, in the several words that services have for it. */
import type { AnswerFinishReason } from '../../../core/stream-event.ts'

/** `broken`: the service says itself that it did not get to the end. */
export function parseFinishReason(reason: string): AnswerFinishReason | 'broken' {
  return REASONS.get(reason) ?? 'stop'
}

const REASONS: ReadonlyMap<string, AnswerFinishReason | 'broken'> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['sensitive', 'content-filter'],
  ['recitation', 'content-filter'],
  ['error', 'broken'],
  ['network_error', 'broken'],
  ['insufficient_system_resource', 'broken'],
])
