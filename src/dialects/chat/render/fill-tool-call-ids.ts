/**
 * Inserts the ids under which the gateway records tool calls into a chat answer that is otherwise
 * forwarded unchanged. Some upstreams send calls without an id, or the same id twice, but a client
 * needs a unique id to send the output of a call.
 */
import { isToolCall, type Item, type ToolCall } from '../../../core/item.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  tryParseJsonObject,
} from '../../../core/json/json.ts'
import { patchList, patchObject } from '../../../core/json/patch-object.ts'
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'

/**
 * Inserts missing call ids into one message of a stream. `events` are the events decoded from the
 * message; they contain the recorded ids. The message is parsed only if it lacks one of these ids.
 */
export function fillStreamToolCallIds(
  message: SseMessage,
  events: readonly StreamEvent[],
): SseMessage {
  const calls = events.flatMap((event) =>
    event.type === 'item-started' && isToolCall(event.item) ? [event.item] : [],
  )
  if (calls.every(({ call_id: id }) => message.data.includes(JSON.stringify(id)))) return message
  const json = tryParseJsonObject(message.data)
  if (json === null) return message
  return { ...message, data: JSON.stringify(setCallIds(json, 'delta', calls)) }
}

/**
 * Inserts missing call ids into a non-streamed answer. `items` are the items decoded from it; they
 * contain the recorded ids.
 */
export function fillAnswerToolCallIds(body: JsonObject, items: readonly Item[]): JsonObject {
  return setCallIds(body, 'message', items.filter(isToolCall))
}

function setCallIds(json: JsonObject, field: 'delta' | 'message', calls: readonly ToolCall[]) {
  const { choices } = json
  if (!Array.isArray(choices) || calls.length === 0) return json
  const setIds = (choice: Json): Json => {
    if (!isObject(choice) || (choice['index'] ?? 0) !== 0) return choice
    const message = choice[field]
    if (!isObject(message) || !Array.isArray(message['tool_calls'])) return choice
    const entries = setEntryIds(message['tool_calls'], calls)
    return patchObject(choice, { [field]: patchObject(message, { tool_calls: entries }) })
  }
  return patchObject(json, { choices: patchList<Json>(choices, setIds) })
}

/**
 * Sets the ids of the entries of `tool_calls`, which are in the same order as `calls`. An entry
 * without a name continues the call before it and gets no id.
 */
function setEntryIds(entries: readonly Json[], calls: readonly ToolCall[]): readonly Json[] {
  let next = 0
  return patchList(entries, (entry) => {
    const call = calls[next]
    if (call === undefined || !isObject(entry) || readCallName(entry) !== call.name) return entry
    next += 1
    return entry['id'] === call.call_id ? entry : { ...entry, id: call.call_id }
  })
}

function readCallName({ function: functionCall, custom }: JsonObject): Json | undefined {
  const body = isObject(custom) ? custom : functionCall
  return isObject(body) ? body['name'] : undefined
}
