/**
 * Converts token counts to OpenAI's terms: thoughts count as output, and prompts of Google's own
 * tools as input. Early chunks of a stream may have no counts.
 */
import type { TokenUsage } from '../../../core/stream-event.ts'
import type { UsageMetadata } from '../api-types.ts'

/** Converts the counts; returns `null` if there is no count of the prompt. */
export function parseUsage(wire: UsageMetadata): TokenUsage | null {
  const prompt = readCount(wire.promptTokenCount)
  if (prompt === null) return null
  const thoughts = readCount(wire.thoughtsTokenCount)
  const inputTokens = prompt + (readCount(wire.toolUsePromptTokenCount) ?? 0)
  const outputTokens = (readCount(wire.candidatesTokenCount) ?? 0) + (thoughts ?? 0)
  return {
    inputTokens,
    cachedTokens: readCount(wire.cachedContentTokenCount),
    cacheWriteTokens: null,
    outputTokens,
    reasoningTokens: thoughts,
    totalTokens: readCount(wire.totalTokenCount) ?? inputTokens + outputTokens,
  }
}

function readCount(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
