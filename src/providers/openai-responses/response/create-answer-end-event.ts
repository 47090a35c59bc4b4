/** Decides how an answer ends, and parses its token counts, from its final response object. */
import type {
  AnswerEnded,
  AnswerFailed,
  Failure,
  AnswerFinishReason,
  TokenUsage,
} from '../../../core/stream-event.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { parseError } from '../parse-errors.ts'

/**
 * Creates the terminal event. `recordedError` is an earlier `error` event, which explains more than
 * the response object.
 */
export function createAnswerEndEvent(
  response: JsonObject,
  recordedError: Failure | null,
): AnswerEnded | AnswerFailed {
  const { status, error, incomplete_details: details } = response
  const usage = parseUsage(response['usage'])
  if (recordedError !== null) return { type: 'answer-failed', failure: recordedError, usage }
  if (isObject(error)) return { type: 'answer-failed', failure: parseError(error, null), usage }
  if (status === 'incomplete') {
    return { type: 'answer-ended', finish: parseFinishReason(details), usage }
  }
  if (status === undefined || status === 'completed') {
    return { type: 'answer-ended', finish: 'stop', usage }
  }
  return { type: 'answer-failed', failure: createUnfinishedFailure(status), usage }
}

/**
 * Returns why an answer is incomplete: every reason but `content_filter` counts as a length limit,
 * e.g. `max_output_tokens`.
 */
function parseFinishReason(details: Json | undefined): AnswerFinishReason {
  return isObject(details) && details['reason'] === 'content_filter' ? 'content-filter' : 'length'
}

function createUnfinishedFailure(status: Json): Failure {
  const ending = typeof status === 'string' ? status : 'without a status'
  return createFailure('upstream_broken', `The upstream ended its answer as ${ending}.`)
}

function parseUsage(usage: Json | undefined): TokenUsage | null {
  if (!isObject(usage)) return null
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage
  const inputTokens = readCountOr(0, input)
  const outputTokens = readCountOr(0, output)
  const inputDetails = usage['input_tokens_details']
  const outputDetails = usage['output_tokens_details']
  return {
    inputTokens,
    cachedTokens: readDetail(inputDetails, 'cached_tokens'),
    cacheWriteTokens: readDetail(inputDetails, 'cache_write_tokens'),
    outputTokens,
    reasoningTokens: readDetail(outputDetails, 'reasoning_tokens'),
    totalTokens: readCountOr(inputTokens + outputTokens, total),
  }
}

function readDetail(details: Json | undefined, name: string): number | null {
  return isObject(details) ? readCountOr(null, details[name]) : null
}

function readCountOr<Fallback>(fallback: Fallback, value: Json | undefined): number | Fallback {
  return typeof value === 'number' && Number.isFinite(value) ? value : fallback
}
