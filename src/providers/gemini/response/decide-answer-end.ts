/**
 * Decides how an answer ends, and parses its token counts. Only `STOP` is a normal end. An unknown
 * finish reason counts as a failure, because an incomplete answer must not look complete.
 */
import { createFailure } from '../../../core/errors/gateway-error.ts'
import type { Failure, AnswerFinishReason, TokenUsage } from '../../../core/stream-event.ts'
import type { UsageMetadata, GeminiChunk, GeminiCandidate } from '../api-types.ts'

export type AnswerEnding = { readonly finish: AnswerFinishReason } | { readonly failure: Failure }

/**
 * Returns how the answer ends; `null` if this chunk does not show it. If Google blocks the prompt,
 * the answer has `promptFeedback` instead of a candidate.
 */
export function decideAnswerEnd(
  { promptFeedback }: GeminiChunk,
  candidate: GeminiCandidate | null,
): AnswerEnding | null {
  const reason = candidate?.finishReason
  if (typeof reason === 'string' && reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED') {
    const message = candidate?.finishMessage
    return parseFinishReason(reason, typeof message === 'string' ? message : null)
  }
  return typeof promptFeedback?.blockReason === 'string' ? { finish: 'content-filter' } : null
}

/** Google's finish reasons: https://ai.google.dev/api/generate-content#FinishReason */
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

function parseFinishReason(reason: string, message: string | null): AnswerEnding {
  const known = Object.hasOwn(ENDINGS, reason) ? ENDINGS[reason] : undefined
  if (typeof known === 'string') return { finish: known }
  const fault = known?.fault ?? 'The model stopped before the end of its answer'
  const details = message === null || message === '' ? '' : `: ${message.slice(0, 500)}`
  return {
    failure: createFailure('upstream_broken', `${fault} (${reason.slice(0, 60)})${details}`),
  }
}

/**
 * Converts token counts to OpenAI's terms: thoughts count as output, and prompts of Google's own
 * tools as input. Returns `null` without a count of the prompt, as in early chunks of a stream.
 */
export function parseUsage(usage: UsageMetadata): TokenUsage | null {
  const prompt = readCount(usage.promptTokenCount)
  if (prompt === null) return null
  const thoughts = readCount(usage.thoughtsTokenCount)
  const inputTokens = prompt + (readCount(usage.toolUsePromptTokenCount) ?? 0)
  const outputTokens = (readCount(usage.candidatesTokenCount) ?? 0) + (thoughts ?? 0)
  return {
    inputTokens,
    cachedTokens: readCount(usage.cachedContentTokenCount),
    cacheWriteTokens: null,
    outputTokens,
    reasoningTokens: thoughts,
    totalTokens: readCount(usage.totalTokenCount) ?? inputTokens + outputTokens,
  }
}

function readCount(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
