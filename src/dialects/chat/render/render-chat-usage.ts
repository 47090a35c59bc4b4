/** Usage in chat's words. What the upstream did not say is left out, for that is not 0. */
import type { TokenUsage } from '../../../core/stream-event.ts'
import type { JsonObject } from '../../../core/json/json.ts'

export function renderChatUsage(usage: TokenUsage): JsonObject {
  const { cachedTokens, cacheWriteTokens, reasoningTokens } = usage
  const prompt = {
    ...(cachedTokens === null ? {} : { cached_tokens: cachedTokens }),
    ...(cacheWriteTokens === null ? {} : { cache_write_tokens: cacheWriteTokens }),
  }
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    ...(Object.keys(prompt).length > 0 ? { prompt_tokens_details: prompt } : {}),
    ...(reasoningTokens === null
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}
