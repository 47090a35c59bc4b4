/**
 * What can be told of an Open WebUI that tells nothing of itself. It asks by aiohttp, as others do, so
 * that what follows is true of them all, or does no harm to them: it is never told anything that only
 * Open WebUI understands, gets no markers, and nothing of it is remembered differently.
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

/** The limit is one of aiohttp, and ends the answer of whoever reads it line by line. */
export function needsShortLines(headers: Headers): boolean {
  return /^Python\/\S+ aiohttp\/\d/.test(headers.get('user-agent') ?? '')
}

/** Whether a request for a response is written as Open WebUI writes them out of a chat. */
export function looksLikeOpenWebUiRequest(headers: Headers, body: JsonObject): boolean {
  if (!needsShortLines(headers) || NEVER_SENT.some((name) => body[name] !== undefined)) return false
  const { input } = body
  return Array.isArray(input) && (input as readonly Json[]).every(isWrittenSo)
}

const NEVER_SENT =
  `store include text metadata background conversation truncation parallel_tool_calls
  context_management service_tier safety_identifier`.split(/\s+/)

/** Each item says its type, and a message has its parts as a list, without an id or a status. */
function isWrittenSo(item: Json): boolean {
  if (!isObject(item) || item['id'] !== undefined || item['status'] !== undefined) return false
  if (item['type'] === 'message') return Array.isArray(item['content'])
  return item['type'] === 'function_call' || item['type'] === 'function_call_output'
}
