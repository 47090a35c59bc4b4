/**
 * Guesses that a client is Open WebUI although it sends none of its headers. Open WebUI uses the HTTP
 * library aiohttp, like many programs, so a guess only enables adaptations that are correct for every
 * aiohttp client or harmless to it: no markers, and no change to the stored data.
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

/**
 * True if the client uses aiohttp, which fails to read a stream line by line if a line is over 128
 * KiB.
 */
export function needsShortLines(headers: Headers): boolean {
  return /^Python\/\S+ aiohttp\/\d/.test(headers.get('user-agent') ?? '')
}

/**
 * True if the client uses aiohttp and the Responses body has the form that Open WebUI creates from
 * a chat.
 */
export function looksLikeOpenWebUiRequest(headers: Headers, body: JsonObject): boolean {
  if (!needsShortLines(headers) || FIELDS_NEVER_SENT.some((name) => body[name] !== undefined))
    return false
  const { input } = body
  return Array.isArray(input) && (input as readonly Json[]).every(looksLikeOpenWebUiItem)
}

const FIELDS_NEVER_SENT =
  `store include text metadata background conversation truncation parallel_tool_calls
  context_management service_tier safety_identifier`.split(/\s+/)

/**
 * True if an item has the form that Open WebUI sends: a `type`, a list as `content`, and neither
 * `id` nor `status`.
 */
function looksLikeOpenWebUiItem(item: Json): boolean {
  if (!isObject(item) || item['id'] !== undefined || item['status'] !== undefined) return false
  if (item['type'] === 'message') return Array.isArray(item['content'])
  return item['type'] === 'function_call' || item['type'] === 'function_call_output'
}
