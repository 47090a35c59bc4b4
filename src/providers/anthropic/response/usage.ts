/**
 * Parses token usage. Counts are cumulative and come in two events, of which the later one may omit
 * fields of the earlier one. `input_tokens` excludes the tokens that were read from or written to
 * the cache.
 */
import type { TokenUsage } from '../../../core/stream-event.ts'
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/** A `null` in an update keeps the earlier value. */
export function mergeUsage(before: JsonObject | null, update: Json | undefined): JsonObject | null {
  if (!isObject(update)) return before
  const known = Object.entries(update).filter(([, value]) => value !== null)
  return { ...before, ...Object.fromEntries(known) }
}

export function parseUsage(raw: JsonObject | null): TokenUsage | null {
  if (raw === null) return null
  // The API's totals exclude the tokens of a compaction within the answer.
  const usages = [raw, ...findCompactions(raw)]
  const cachedTokens = sumField(usages, 'cache_read_input_tokens')
  const cacheWriteTokens = sumField(usages, 'cache_creation_input_tokens')
  const uncachedTokens = sumField(usages, 'input_tokens') ?? 0
  const inputTokens = uncachedTokens + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0)
  const outputTokens = sumField(usages, 'output_tokens') ?? 0
  return {
    inputTokens,
    cachedTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens: readThinkingTokens(raw),
    totalTokens: inputTokens + outputTokens,
  }
}

function findCompactions({ iterations }: JsonObject): readonly JsonObject[] {
  return listOrEmpty(iterations)
    .filter(isObject)
    .filter(({ type }) => type === 'compaction')
}

/** Returns `null`, not 0, if the field is missing everywhere. */
function sumField(usages: readonly JsonObject[], field: string): number | null {
  const counts = usages.map((usage) => usage[field]).filter((count) => typeof count === 'number')
  return counts.length === 0 ? null : counts.reduce((total, count) => total + count, 0)
}

function readThinkingTokens({ output_tokens_details: details }: JsonObject): number | null {
  const tokens = isObject(details) ? details['thinking_tokens'] : null
  return typeof tokens === 'number' ? tokens : null
}
