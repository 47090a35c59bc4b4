/**
 * Defines the hostile fields that are removed from passed-through answers, and a caching JSON
 * parser.
 */
import { tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import type { SseMessage } from '../core/stream/stage.ts'

/**
 * Fields with which an upstream could attack Open WebUI: it runs scripts from `event`, in any
 * stream. Neither API of OpenAI has these fields.
 */
export const HOSTILE_FIELDS = ['event', 'selected_model_id', 'sources'] as const

/**
 * Returns a parser that caches the result for the last message, because several checks parse the
 * same message.
 */
export function createMessageParser(): (message: SseMessage) => JsonObject | null {
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
