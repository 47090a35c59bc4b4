/**
 * Renders the fields of a response object in two halves: the progress of the answer, and the fields
 * that repeat the request. A stream contains the object at least three times, but the second half,
 * with all tools and instructions, is rendered only once.
 *
 * Fields that the client left out get their default, because strict clients accept `null` in few of
 * them.
 */
import type { Failure, TokenUsage } from '../../../core/stream-event.ts'
import { responseId } from '../../../core/turn-derived-ids.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/collect-answer-outcome.ts'
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

/** The fields of a response object that change while the answer is generated, without `output`. */
export interface ResponseProgress {
  readonly status: ResponseStatus
  readonly completedAtMs: number | null
  readonly failure: Failure | null
  readonly incompleteReason: 'max_output_tokens' | 'content_filter' | null
  /**
   * The model name that the upstream reports. While it is `null`, the requested model name is
   * rendered.
   */
  readonly model: string | null
  readonly usage: TokenUsage | null
}

export const INITIAL_PROGRESS: ResponseProgress = {
  status: 'in_progress',
  completedAtMs: null,
  failure: null,
  incompleteReason: null,
  model: null,
  usage: null,
}

export function convertOutcomeToProgress(
  outcome: Outcome,
  endedAtMs: number | null,
): ResponseProgress {
  const { finish, failure, model, usage } = outcome
  const known = { ...INITIAL_PROGRESS, model, usage }
  if (failure !== null) return { ...known, status: 'failed', failure }
  if (finish === null) return known
  if (finish === 'stop') return { ...known, status: 'completed', completedAtMs: endedAtMs }
  const incomplete = finish === 'length' ? 'max_output_tokens' : 'content_filter'
  return { ...known, status: 'incomplete', incompleteReason: incomplete }
}

/** Renders the progress of the answer, without `output`, which callers add. */
export function renderProgressFields(
  progress: ResponseProgress,
  { clientRequest, turnId, createdAtMs }: AnswerContext,
) {
  const { status, completedAtMs, failure, incompleteReason, model, usage } = progress
  return {
    id: responseId(turnId),
    object: 'response',
    created_at: toSeconds(createdAtMs),
    status,
    completed_at: completedAtMs === null ? null : toSeconds(completedAtMs),
    error: failure === null ? null : renderResponseError(failure),
    incomplete_details: incompleteReason === null ? null : { reason: incompleteReason },
    model: model ?? clientRequest.params.model,
    usage: usage === null ? null : renderResponsesUsage(usage),
  } satisfies JsonObject
}

/** Renders the fields that repeat the request, with defaults. */
export function renderRequestFields({ clientRequest, isStored, lostFields = [] }: AnswerContext) {
  const { params, storage, overflow, body } = clientRequest
  const { extra, toolChoice } = params
  return {
    // Only OpenAI grants programs for trusted access.
    access_programs: null,
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
    // `auto` is valid only in a request: a response contains the tier that was used.
    service_tier: params.serviceTier === 'auto' ? 'default' : (params.serviceTier ?? 'default'),
    store: isStored,
    temperature: params.temperature ?? 1,
    text: { format: renderFormat(params), verbosity: params.verbosity ?? 'medium' },
    tool_choice:
      toolChoice === null || lostFields.includes('tool_choice')
        ? 'auto'
        : encodeResponsesToolChoice(toolChoice, params.tools),
    tools: renderTools(params, body['tools'], lostFields),
    top_logprobs: params.topLogprobs ?? 0,
    top_p: params.topP ?? 1,
    truncation: overflow?.truncation ?? 'disabled',
    user: params.user,
  } satisfies JsonObject
}

function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

/**
 * The error codes that the `error` of a response may have; strict clients reject others. The last
 * two codes are not in OpenAI's published list, but OpenAI sends them, and clients check for them.
 */
export const RESPONSE_ERROR_CODES = [
  'server_error',
  'rate_limit_exceeded',
  'invalid_prompt',
  'data_residency_mismatch',
  'bio_policy',
  'misalignment_policy_violation',
  'vector_store_timeout',
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'image_content_policy_violation',
  'invalid_image_mode',
  'image_file_too_large',
  'unsupported_image_media_type',
  'empty_image_file',
  'failed_to_download_image',
  'image_file_not_found',
  'insufficient_quota',
  'context_length_exceeded',
] as const
const ERROR_CODES: ReadonlySet<string> = new Set(RESPONSE_ERROR_CODES)

export function renderResponseError({ code, message }: Failure): JsonObject {
  return { code: code !== null && ERROR_CODES.has(code) ? code : 'server_error', message }
}

/**
 * Renders the fields of an `error` event. OpenAI documents them at the top level, but sends them
 * under `error`, so they are written in both places.
 */
export function renderErrorEventFields({ type, code, message, param }: Failure): string {
  const nested = JSON.stringify({ type, code, message, param })
  return `"error":${nested},${JSON.stringify({ code, message, param }).slice(1, -1)}`
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

function renderFormat({ format }: PromptParameters): JsonObject {
  if (format === null) return { type: 'text' }
  if (format.type !== 'json_schema') return { type: format.type }
  const { type, name, description, schema, strict } = format
  return { type, name, description, schema, strict: strict ?? false }
}

/**
 * Returns the client's tools that were offered to the model. Functions get the required fields that
 * the client left out, e.g. `strict`.
 */
function renderTools(
  { tools }: PromptParameters,
  clientTools: Json | undefined,
  lostFields: readonly string[],
): Json {
  if (!Array.isArray(clientTools)) return []
  return clientTools.flatMap((raw: Json, index) => {
    if (lostFields.includes(`tools[${index}]`)) return []
    const tool = tools[index]
    if (tool?.type !== 'function' || !isObject(raw)) return [raw]
    const { extra: _extra, ...fields } = tool
    return [{ ...raw, ...fields }]
  })
}
