/** Parses the token usage of an answer, under the field names of several services. */
import type { TokenUsage } from '../../../core/stream-event.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'

/** Returns null if the value has no numeric token count. */
export function parseUsage(value: Json | undefined): TokenUsage | null {
  if (!isObject(value)) return null
  const input = readCount(value['prompt_tokens'])
  const output = readCount(value['completion_tokens'])
  if (input === null && output === null) return null
  const details = readObject(value, 'prompt_tokens_details')
  return {
    inputTokens: input ?? 0,
    // DeepSeek reports cached tokens under its own name.
    cachedTokens:
      readCount(details['cached_tokens']) ?? readCount(value['prompt_cache_hit_tokens']),
    cacheWriteTokens: readCount(details['cache_write_tokens']),
    outputTokens: output ?? 0,
    reasoningTokens: readCount(readObject(value, 'completion_tokens_details')['reasoning_tokens']),
    totalTokens: readCount(value['total_tokens']) ?? (input ?? 0) + (output ?? 0),
  }
}

const EMPTY: JsonObject = {}

function readObject(value: JsonObject, name: string): JsonObject {
  const found = value[name]
  return isObject(found) ? found : EMPTY
}

function readCount(value: Json | undefined): number | null {
  return typeof value === 'number' && value >= 0 ? value : null
}
