/** Shared by both pass-through patchers: the names of hostile fields, and a caching JSON parser. */
import { tryParseJsonObject, type JsonObject } from '../core/json/json.ts'
import type { SseMessage } from '../core/stream/stage.ts'

/** Open WebUI runs scripts from `event`, in any stream. Neither API of OpenAI has these fields. */
export const HOSTILE_FIELDS = ['event', 'selected_model_id', 'sources'] as const

/** Returns a parser that remembers the last message, because one message is parsed for several checks. */
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
