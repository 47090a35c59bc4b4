/** Adds up the token usage of several requests. A number that none of them reported stays null. */
import type { TokenUsage } from '../stream-event.ts'

export const ZERO_TOKEN_USAGE: TokenUsage = {
  inputTokens: 0,
  cachedTokens: null,
  cacheWriteTokens: null,
  outputTokens: 0,
  reasoningTokens: null,
  totalTokens: 0,
}

export function addTokenUsage(total: TokenUsage, usage: TokenUsage | null): TokenUsage {
  if (usage === null) return total
  return {
    inputTokens: total.inputTokens + usage.inputTokens,
    cachedTokens: sum(total.cachedTokens, usage.cachedTokens),
    cacheWriteTokens: sum(total.cacheWriteTokens, usage.cacheWriteTokens),
    outputTokens: total.outputTokens + usage.outputTokens,
    reasoningTokens: sum(total.reasoningTokens, usage.reasoningTokens),
    totalTokens: total.totalTokens + usage.totalTokens,
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0)
}
