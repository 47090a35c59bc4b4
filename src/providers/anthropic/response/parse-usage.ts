/**
 * Parses the token counts of an answer. Two events contain counts; the later counts replace the
 * earlier ones. `input_tokens` does not include tokens that were read from or written to the cache.
 */
import type { TokenUsage } from '../../../core/stream-event.ts'
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/**
 * Merges the counts of a later event into those of an earlier one. A `null` in the later event does
 * not replace a count.
 */
export function mergeUsage(before: JsonObject | null, update: Json | undefined): JsonObject | null {
  if (!isObject(update)) return before
  const known = Object.entries(update).filter(([, value]) => value !== null)
  return { ...before, ...Object.fromEntries(known) }
}

export function parseUsage(raw: JsonObject | null): TokenUsage | null {
  if (raw === null) return null
  // The API's totals do not include a compaction within the answer, so its tokens are added here.
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

/** Adds up a field of several objects. Returns `null` if none of them has the field. */
function sumField(usages: readonly JsonObject[], field: string): number | null {
  const counts = usages.map((usage) => usage[field]).filter((count) => typeof count === 'number')
  return counts.length === 0 ? null : counts.reduce((total, count) => total + count, 0)
}

function readThinkingTokens({ output_tokens_details: details }: JsonObject): number | null {
  const tokens = isObject(details) ? details['thinking_tokens'] : null
  return typeof tokens === 'number' ? tokens : null
}
