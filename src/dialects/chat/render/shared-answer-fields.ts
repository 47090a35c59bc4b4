/**
 * Renders the fields that a chat stream and a non-streamed chat answer have in common: finish
 * reason, annotations, reasoning details and usage.
 */
import { readChatOnlyFields, filterObjects } from '../../../core/items/chat-only-fields.ts'
import type { AnswerFinishReason, TokenUsage } from '../../../core/stream-event.ts'
import type { Item, Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'

export function renderFinishReason(finish: AnswerFinishReason | null, hasCalls: boolean): string {
  if (finish === 'length') return 'length'
  if (finish === 'content-filter') return 'content_filter'
  return hasCalls ? 'tool_calls' : 'stop'
}

/** Renders the annotations that Chat Completions has a type for: citations of web pages. */
export function renderAnnotations(parts: readonly Part[]): readonly JsonObject[] {
  return parts
    .flatMap((part) => (part.type === 'output_text' ? (part.annotations ?? []) : []))
    .flatMap(({ type, ...citation }) =>
      type === 'url_citation' ? [{ type, url_citation: citation }] : [],
    )
}

export function readReasoningDetails(item: Item): readonly JsonObject[] {
  return filterObjects(readChatOnlyFields(item).reasoning_details)
}

/**
 * Renders the token usage. Omits counts that the upstream did not report, because 0 would be wrong.
 */
export function renderChatUsage(usage: TokenUsage): JsonObject {
  const { cachedTokens, cacheWriteTokens, reasoningTokens } = usage
  const promptDetails = {
    ...(cachedTokens === null ? {} : { cached_tokens: cachedTokens }),
    ...(cacheWriteTokens === null ? {} : { cache_write_tokens: cacheWriteTokens }),
  }
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    ...(Object.keys(promptDetails).length > 0 ? { prompt_tokens_details: promptDetails } : {}),
    ...(reasoningTokens === null
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}
