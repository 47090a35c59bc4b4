/**
 * Inserts the recorded ids of tool calls into a passed-through chat answer. Some upstreams send
 * calls without an id, or the same id twice, but a client needs a unique id to send the output of a
 * call.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import { isToolCall, type Item, type ToolCall } from '../../../core/item.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  tryParseJsonObject,
} from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'

/**
 * Inserts ids into a message of a stream. `events` are decoded from `message`, which is parsed only
 * if one of the ids in them is missing.
 */
export function fillStreamToolCallIds(
  message: SseMessage,
  events: readonly StreamEvent[],
): SseMessage {
  for (const event of events) {
    if (event.type !== 'item-started' || !isToolCall(event.item)) continue
    if (message.data.includes(JSON.stringify(event.item.call_id))) continue
    return { ...message, data: insertCallIds(message.data, listStartedCalls(events)) }
  }
  return message
}

/** Inserts ids into a non-streamed answer. */
export function fillBodyToolCallIds(body: JsonObject, items: readonly Item[]): JsonObject {
  return setCallIds(body, 'message', items.filter(isToolCall))
}

function listStartedCalls(events: readonly StreamEvent[]): readonly ToolCall[] {
  return events.flatMap((event) =>
    event.type === 'item-started' && isToolCall(event.item) ? [event.item] : [],
  )
}

function insertCallIds(data: string, calls: readonly ToolCall[]): string {
  const json = tryParseJsonObject(data)
  return json === null ? data : JSON.stringify(setCallIds(json, 'delta', calls))
}

function setCallIds(json: JsonObject, field: 'delta' | 'message', calls: readonly ToolCall[]) {
  const { choices } = json
  if (!Array.isArray(choices) || calls.length === 0) return json
  let isChanged = false
  const newChoices = (choices as readonly Json[]).map((choice): Json => {
    const message = isObject(choice) ? choice[field] : undefined
    const isFirst = isObject(choice) && (choice['index'] ?? 0) === 0
    if (!isFirst || !isObject(message) || !Array.isArray(message['tool_calls'])) return choice
    const entries = message['tool_calls'] as readonly Json[]
    const newEntries = setEntryIds(entries, calls)
    isChanged ||= newEntries.some((entry, index) => entry !== entries[index])
    return { ...choice, [field]: { ...message, tool_calls: newEntries } }
  })
  return isChanged ? { ...json, choices: newChoices } : json
}

/**
 * Sets the ids of entries in `tool_calls`. Entries and calls are in the same order. An entry
 * without a name continues the call before it and gets no id.
 */
function setEntryIds(entries: readonly Json[], calls: readonly ToolCall[]): readonly Json[] {
  let next = 0
  return entries.map((entry) => {
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
