/** Tokens of several questions, added up. What nobody said stays unsaid. */
import type { TokenUsage } from '../stream-event.ts'

export const ZERO_TOKEN_USAGE: TokenUsage = {
  inputTokens: 0,
  cachedTokens: null,
  cacheWriteTokens: null,
  outputTokens: 0,
  reasoningTokens: null,
  totalTokens: 0,
}

export function addTokenUsage(all: TokenUsage, more: TokenUsage | null): TokenUsage {
  if (more === null) return all
  return {
    inputTokens: all.inputTokens + more.inputTokens,
    cachedTokens: sum(all.cachedTokens, more.cachedTokens),
    cacheWriteTokens: sum(all.cacheWriteTokens, more.cacheWriteTokens),
    outputTokens: all.outputTokens + more.outputTokens,
    reasoningTokens: sum(all.reasoningTokens, more.reasoningTokens),
    totalTokens: all.totalTokens + more.totalTokens,
  }
}

function sum(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0)
}
