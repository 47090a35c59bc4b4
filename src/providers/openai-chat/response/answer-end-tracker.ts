/**
 * Decides how an answer ends, from its finish reasons and usage. The finish reason alone does not
 * end the answer, because usage may come after it.
 */
import type { Failure, AnswerFinishReason, TokenUsage } from '../../../core/stream-event.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import type { ChatChoice, ChatChunk } from '../api-types.ts'

export interface AnswerEndTracker {
  readonly readChunk: (chunk: ChatChunk, choice: ChatChoice | null) => void
  readonly getUsage: () => TokenUsage | null
  /** Returns how the answer ends if the upstream sends `[DONE]`. */
  readonly decideAtDone: () => AnswerFinishReason | Failure
  /** Returns how the answer ends if its body ends without `[DONE]`. */
  readonly decideAtBodyEnd: () => AnswerFinishReason | Failure
}

const CUT_OFF = createFailure(
  'upstream_broken',
  'The upstream broke off in the middle of its answer.',
)
const EMPTY = createFailure('upstream_broken', 'The upstream ended its stream without an answer.')

export function createAnswerEndTracker(): AnswerEndTracker {
  let isEmpty = true
  let reason = ''
  let usage: TokenUsage | null = null
  let hasFinalUsage = false

  const decideAtDone = (): AnswerFinishReason | Failure => {
    if (isEmpty) return EMPTY
    const finish = FINISH_REASONS.get(reason) ?? 'stop'
    return finish === 'broken' ? CUT_OFF : finish
  }
  return {
    readChunk(chunk, choice) {
      isEmpty = false
      const chunkUsage = parseUsage(chunk.usage ?? readGroqUsage(chunk))
      if (chunkUsage !== null) usage = chunkUsage
      if (choice !== null) reason = textOrEmpty(choice.finish_reason) || reason
      // In OpenAI's streams, only the last chunk has usage and no choice, so such a chunk means
      // that the answer is complete.
      else if (chunkUsage !== null) hasFinalUsage = true
    },
    getUsage: () => usage,
    decideAtDone,
    decideAtBodyEnd: () => (isEmpty || reason !== '' || hasFinalUsage ? decideAtDone() : CUT_OFF),
  }
}

/**
 * The finish reasons that do not mean `stop`. `broken` means that the service could not finish the
 * answer.
 */
const FINISH_REASONS: ReadonlyMap<string, AnswerFinishReason | 'broken'> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['sensitive', 'content-filter'],
  ['recitation', 'content-filter'],
  ['error', 'broken'],
  ['network_error', 'broken'],
  ['insufficient_system_resource', 'broken'],
])

function readGroqUsage({ x_groq: groq }: ChatChunk): Json | undefined {
  return isObject(groq) ? groq['usage'] : undefined
}

/**
 * Parses token counts, which services send under different names; returns null without a number.
 */
function parseUsage(value: Json | undefined): TokenUsage | null {
  if (!isObject(value)) return null
  const input = readCount(value['prompt_tokens'])
  const output = readCount(value['completion_tokens'])
  if (input === null && output === null) return null
  const details = readObject(value, 'prompt_tokens_details')
  return {
    inputTokens: input ?? 0,
    // DeepSeek reports cached tokens as `prompt_cache_hit_tokens`.
    cachedTokens:
      readCount(details['cached_tokens']) ?? readCount(value['prompt_cache_hit_tokens']),
    cacheWriteTokens: readCount(details['cache_write_tokens']),
    outputTokens: output ?? 0,
    reasoningTokens: readCount(readObject(value, 'completion_tokens_details')['reasoning_tokens']),
    totalTokens: readCount(value['total_tokens']) ?? (input ?? 0) + (output ?? 0),
  }
}

const EMPTY_OBJECT: JsonObject = {}

function readObject(value: JsonObject, name: string): JsonObject {
  const field = value[name]
  return isObject(field) ? field : EMPTY_OBJECT
}

function readCount(value: Json | undefined): number | null {
  return typeof value === 'number' && value >= 0 ? value : null
}
