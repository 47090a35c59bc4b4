/**
 * Token counts in OpenAI's terms: what the model thought is part of the output, what its tools read
 * is part of the input. Early chunks of a stream may count nothing yet.
 */
import type { TokenUsage } from '../../../core/stream-event.ts'
import type { UsageMetadata } from '../api-types.ts'

/** `null` while nothing has been counted. */
export function parseUsage(wire: UsageMetadata): TokenUsage | null {
  const prompt = count(wire.promptTokenCount)
  if (prompt === null) return null
  const thoughts = count(wire.thoughtsTokenCount)
  const inputTokens = prompt + (count(wire.toolUsePromptTokenCount) ?? 0)
  const outputTokens = (count(wire.candidatesTokenCount) ?? 0) + (thoughts ?? 0)
  return {
    inputTokens,
    cachedTokens: count(wire.cachedContentTokenCount),
    cacheWriteTokens: null,
    outputTokens,
    reasoningTokens: thoughts,
    totalTokens: count(wire.totalTokenCount) ?? inputTokens + outputTokens,
  }
}

function count(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
