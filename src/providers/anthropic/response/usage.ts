/**
 * What an answer cost. Counts are cumulative and come in two messages, the later of which need not
 * repeat the earlier. Tokens read from and written to the cache are not part of `input_tokens` here.
 */
import type { TokenUsage } from '../../../core/stream-event.ts'
import { isObject, listOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/** `null` in an update means nothing new. */
export function mergeUsage(before: JsonObject | null, update: Json | undefined): JsonObject | null {
  if (!isObject(update)) return before
  const said = Object.entries(update).filter(([, value]) => value !== null)
  return { ...before, ...Object.fromEntries(said) }
}

export function parseUsage(raw: JsonObject | null): TokenUsage | null {
  if (raw === null) return null
  // The totals leave out what a compaction on the way cost.
  const all = [raw, ...compactions(raw)]
  const cachedTokens = sum(all, 'cache_read_input_tokens')
  const cacheWriteTokens = sum(all, 'cache_creation_input_tokens')
  const fresh = sum(all, 'input_tokens') ?? 0
  const inputTokens = fresh + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0)
  const outputTokens = sum(all, 'output_tokens') ?? 0
  return {
    inputTokens,
    cachedTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens: thinkingTokens(raw),
    totalTokens: inputTokens + outputTokens,
  }
}

function compactions({ iterations }: JsonObject): readonly JsonObject[] {
  return listOrEmpty(iterations)
    .filter(isObject)
    .filter(({ type }) => type === 'compaction')
}

/** `null` if nobody said, which is not 0. */
function sum(all: readonly JsonObject[], field: string): number | null {
  const counts = all.map((one) => one[field]).filter((count) => typeof count === 'number')
  return counts.length === 0 ? null : counts.reduce((total, count) => total + count, 0)
}

function thinkingTokens({ output_tokens_details: details }: JsonObject): number | null {
  const tokens = isObject(details) ? details['thinking_tokens'] : null
  return typeof tokens === 'number' ? tokens : null
}
