/**
 * Defines the hostile fields to remove from an answer that is forwarded as the upstream sent it
 * (passed through), and a JSON parser that caches its last result.
 */
import { tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import type { SseMessage } from '../core/stream/sse.ts'

/**
 * Fields with which an upstream could attack Open WebUI. For example, Open WebUI runs scripts from
 * `event` in chat and in Responses streams. Neither API of OpenAI has these fields.
 */
export const WITHOUT_HOSTILE_FIELDS = {
  event: undefined,
  selected_model_id: undefined,
  sources: undefined,
}

/**
 * Returns a parser that caches its result for the last message, because several checks parse the
 * same message.
 */
export function createCachingMessageParser(): (message: SseMessage) => JsonObject | null {
  let lastMessage: SseMessage | null = null
  let json: JsonObject | null = null
  return (message) => {
    if (message !== lastMessage) {
      lastMessage = message
      json = tryParseJsonObject(message.data)
    }
    return json
  }
}
