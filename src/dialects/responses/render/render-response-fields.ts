/**
 * The response object: what an answer is, and what was asked. Everything that was asked is echoed
 * with a concrete value, because strict clients accept null in few of these places.
 *
 * Its two halves are apart so that a stream, which shows the object three times and more, can write
 * the second one, with all tools and instructions in it, only once.
 */
import type { Failure, TokenUsage } from '../../../core/stream-event.ts'
import { responseId } from '../../../core/turn-derived-ids.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/fold-answer-outcome.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import { encodeResponsesToolChoice } from '../../../core/json/encode-responses-tool-choice.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'

export type ResponseStatus =
  | 'queued'
  | 'in_progress'
  | 'completed'
  | 'incomplete'
  | 'failed'
  | 'cancelled'

/** What of a response changes while it is made, without its output. */
export interface ResponseProgress {
  readonly status: ResponseStatus
  readonly completedAtMs: number | null
  readonly failure: Failure | null
  readonly incomplete: 'max_output_tokens' | 'content_filter' | null
  /** Of the model that answered; the one that was asked stands in as long as it is not known. */
  readonly model: string | null
  readonly usage: TokenUsage | null
}

export const INITIAL_PROGRESS: ResponseProgress = {
  status: 'in_progress',
  completedAtMs: null,
  failure: null,
  incomplete: null,
  model: null,
  usage: null,
}

/** How far an answer has come, by what came of it. */
export function progressFromOutcome(outcome: Outcome, endedAtMs: number | null): ResponseProgress {
  const { finish, failure, model, usage } = outcome
  const known = { ...INITIAL_PROGRESS, model, usage }
  if (failure !== null) return { ...known, status: 'failed', failure }
  if (finish === null) return known
  if (finish === 'stop') return { ...known, status: 'completed', completedAtMs: endedAtMs }
  const incomplete = finish === 'length' ? 'max_output_tokens' : 'content_filter'
  return { ...known, status: 'incomplete', incomplete }
}

/** `output` is left out here: it is written apart. */
export function renderProgressFields(
  progress: ResponseProgress,
  { clientRequest, turnId, createdAtMs }: AnswerContext,
) {
  const { status, completedAtMs, failure, incomplete, model, usage } = progress
  return {
    id: responseId(turnId),
    object: 'response',
    created_at: seconds(createdAtMs),
    status,
    completed_at: completedAtMs === null ? null : seconds(completedAtMs),
    error: failure === null ? null : renderResponseError(failure),
    incomplete_details: incomplete === null ? null : { reason: incomplete },
    model: model ?? clientRequest.params.model,
    usage: usage === null ? null : renderResponsesUsage(usage),
  } satisfies JsonObject
}

export function renderRequestFields({ clientRequest, stored }: AnswerContext): JsonObject {
  const { params, storage, overflow, body } = clientRequest
  const { extra, toolChoice } = params
  return {
    background: storage.background,
    ...(storage.conversationId === null ? {} : { conversation: { id: storage.conversationId } }),
    frequency_penalty: params.frequencyPenalty ?? 0,
    instructions: body['instructions'] ?? null,
    max_output_tokens: params.maxOutputTokens,
    max_tool_calls: extra['max_tool_calls'] ?? null,
    metadata: storage.metadata,
    parallel_tool_calls: params.parallelToolCalls ?? true,
    presence_penalty: params.presencePenalty ?? 0,
    previous_response_id: storage.previousResponseId,
    ...(extra['prompt'] === undefined ? {} : { prompt: extra['prompt'] }),
    prompt_cache_key: params.promptCacheKey,
    reasoning: { effort: params.effort, summary: params.reasoningSummary },
    safety_identifier: params.safetyIdentifier,
    // `auto` is a question; the tier in use is its answer.
    service_tier: params.serviceTier === 'auto' ? 'default' : (params.serviceTier ?? 'default'),
    store: stored,
    temperature: params.temperature ?? 1,
    text: { format: formatOf(params), verbosity: params.verbosity ?? 'medium' },
    tool_choice: toolChoice === null ? 'auto' : encodeResponsesToolChoice(toolChoice, params.tools),
    tools: toolsOf(params, body['tools']),
    top_logprobs: params.topLogprobs ?? 0,
    top_p: params.topP ?? 1,
    truncation: overflow?.truncation ?? 'disabled',
    user: params.user,
  }
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

/**
 * The codes that a response's `error` may have; strict clients check that it is one of them. The
 * last two are not in the published list, but OpenAI sends them and clients look for them.
 */
const ERROR_CODES: ReadonlySet<string> = new Set(
  `server_error rate_limit_exceeded invalid_prompt data_residency_mismatch bio_policy
  misalignment_policy_violation vector_store_timeout invalid_image invalid_image_format
  invalid_base64_image invalid_image_url image_too_large image_too_small image_parse_error
  image_content_policy_violation invalid_image_mode image_file_too_large
  unsupported_image_media_type empty_image_file failed_to_download_image image_file_not_found
  insufficient_quota context_length_exceeded`.split(/\s+/),
)

export function renderResponseError({ code, message }: Failure): JsonObject {
  return { code: code !== null && ERROR_CODES.has(code) ? code : 'server_error', message }
}

export function renderResponsesUsage(usage: TokenUsage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens ?? 0,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.totalTokens,
  }
}

function formatOf({ format }: PromptParameters): JsonObject {
  if (format === null) return { type: 'text' }
  if (format.type !== 'json_schema') return { type: format.type }
  const { type, name, description, schema, strict } = format
  return { type, name, description, schema, strict: strict ?? false }
}

/** As the client wrote them, with what a function must say filled in. */
function toolsOf({ tools }: PromptParameters, written: Json | undefined): Json {
  if (!Array.isArray(written)) return []
  return written.map((raw: Json, at) => {
    const tool = tools[at]
    return tool?.type === 'function' && isObject(raw) ? { ...raw, ...tool } : raw
  })
}
