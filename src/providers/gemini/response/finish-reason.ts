/**
 * Parses the finish reason of an answer. Only `STOP` is a normal end. An unknown reason counts as a
 * failure, because all reasons that Google has added name failures, and an incomplete answer must
 * not look complete.
 */
import type { Failure, AnswerFinishReason } from '../../../core/stream-event.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'

export type AnswerEnding = { readonly finish: AnswerFinishReason } | { readonly failure: Failure }

/** All documented finish reasons: https://ai.google.dev/api/generate-content#FinishReason */
const ENDINGS: Readonly<Record<string, AnswerFinishReason | { readonly fault: string }>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  MODEL_ARMOR: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
  IMAGE_OTHER: { fault: 'The model could not make the image' },
  NO_IMAGE: { fault: 'The model was to make an image and made none' },
  LANGUAGE: { fault: 'The model does not support the language' },
  OTHER: { fault: 'The model stopped for a reason that it does not give' },
  MALFORMED_FUNCTION_CALL: { fault: 'The model wrote a function call that is not valid' },
  UNEXPECTED_TOOL_CALL: { fault: 'The model called a function that it was not offered' },
  TOO_MANY_TOOL_CALLS: { fault: 'The model called too many functions in a row' },
  MISSING_THOUGHT_SIGNATURE: { fault: 'A thought signature is missing in the conversation' },
  MALFORMED_RESPONSE: { fault: 'The model wrote an answer that is not valid' },
}

export function parseFinishReason(reason: string, message: string | null): AnswerEnding {
  const known = Object.hasOwn(ENDINGS, reason) ? ENDINGS[reason] : undefined
  if (typeof known === 'string') return { finish: known }
  const fault = known?.fault ?? 'The model stopped before the end of its answer'
  const details = message === null || message === '' ? '' : `: ${message.slice(0, 500)}`
  return {
    failure: createFailure('upstream_broken', `${fault} (${reason.slice(0, 60)})${details}`),
  }
}
