/**
 * The ids of calls in an answer of an upstream that speaks chat itself. Where it names none, or the
 * same twice, the client is told the one that the call is recorded under, and can answer it.
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

/** `events` is what was understood of the message. It is looked into only where an id is missing. */
export function fillStreamToolCallIds(
  message: SseMessage,
  events: readonly StreamEvent[],
): SseMessage {
  for (const event of events) {
    if (event.type !== 'item-started' || !isToolCall(event.item)) continue
    if (message.data.includes(JSON.stringify(event.item.call_id))) continue
    return { ...message, data: mended(message.data, begunIn(events)) }
  }
  return message
}

/** The same of an answer that was not streamed. */
export function fillBodyToolCallIds(body: JsonObject, items: readonly Item[]): JsonObject {
  return withCalls(body, 'message', items.filter(isToolCall))
}

function begunIn(events: readonly StreamEvent[]): readonly ToolCall[] {
  return events.flatMap((event) =>
    event.type === 'item-started' && isToolCall(event.item) ? [event.item] : [],
  )
}

function mended(data: string, calls: readonly ToolCall[]): string {
  const json = tryParseJsonObject(data)
  return json === null ? data : JSON.stringify(withCalls(json, 'delta', calls))
}

function withCalls(json: JsonObject, name: 'delta' | 'message', calls: readonly ToolCall[]) {
  const { choices } = json
  if (!Array.isArray(choices) || calls.length === 0) return json
  let isChanged = false
  const told = (choices as readonly Json[]).map((choice): Json => {
    const said = isObject(choice) ? choice[name] : undefined
    const isFirst = isObject(choice) && (choice['index'] ?? 0) === 0
    if (!isFirst || !isObject(said) || !Array.isArray(said['tool_calls'])) return choice
    const entries = said['tool_calls'] as readonly Json[]
    const ours = named(entries, calls)
    isChanged ||= ours.some((entry, at) => entry !== entries[at])
    return { ...choice, [name]: { ...said, tool_calls: ours } }
  })
  return isChanged ? { ...json, choices: told } : json
}

/** Calls begin in the order in which they are told; a fragment without a name begins none. */
function named(entries: readonly Json[], calls: readonly ToolCall[]): readonly Json[] {
  let next = 0
  return entries.map((entry) => {
    const call = calls[next]
    if (call === undefined || !isObject(entry) || nameIn(entry) !== call.name) return entry
    next += 1
    return entry['id'] === call.call_id ? entry : { ...entry, id: call.call_id }
  })
}

function nameIn({ function: made, custom }: JsonObject): Json | undefined {
  const body = isObject(custom) ? custom : made
  return isObject(body) ? body['name'] : undefined
}
