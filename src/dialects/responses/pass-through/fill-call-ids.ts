/**
 * Inserts the ids under which the gateway records tool calls into a Responses answer that passes through. Some servers
 * send calls without a `call_id`, but a client needs one to send the output of a call.
 */
import { isToolCall, type Item } from '../../../core/item.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  tryParseJsonObject,
} from '../../../core/json/json.ts'
import { patchList, patchObject } from '../../../core/json/patch-object.ts'
import type { PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import { isTerminalEvent } from '../../../core/stream-event.ts'

/** Creates the function that inserts missing ids into the messages of one stream, in order. */
export function createStreamCallIdFiller(): NonNullable<PassThroughPatcher['addMissingCallIds']> {
  /** The recorded ids of the calls so far by the index of their item, in the order in which the calls started. */
  const ids = new Map<number, string>()
  let isAnyMissing = false
  return (message, events) => {
    const calls: string[] = []
    for (const event of events) {
      // The last message repeats all calls.
      if (isTerminalEvent(event)) calls.push(...ids.values())
      if (event.type !== 'item-started' && event.type !== 'item-ended') continue
      if (!isToolCall(event.item)) continue
      calls.push(event.item.call_id)
      ids.set(event.index, event.item.call_id)
    }
    isAnyMissing ||= calls.some((id) => !message.data.includes(JSON.stringify(id)))
    // Only the messages that contain items of calls are parsed, and only after an id was missing.
    if (!isAnyMissing || !MAY_HAVE_CALL.test(message.data)) return message
    const json = tryParseJsonObject(message.data)
    if (json === null) return message
    const { item, response } = json
    const filled = patchObject(json, {
      ...(isObject(item) ? { item: fillCallId(item, calls[0]) } : {}),
      ...(isObject(response) ? { response: fillOutput(response, [...ids.values()]) } : {}),
    })
    return filled === json ? message : { ...message, data: JSON.stringify(filled) }
  }
}

const MAY_HAVE_CALL = /"(?:function_call|custom_tool_call)"/

/** Inserts missing ids into a non-streamed answer. `items` are the items decoded from it. */
export function fillResponseCallIds(response: JsonObject, items: readonly Item[]): JsonObject {
  return fillOutput(
    response,
    items.filter(isToolCall).map((call) => call.call_id),
  )
}

/** Inserts the ids in order, if the output has as many calls as there are ids. */
function fillOutput(response: JsonObject, ids: readonly string[]): JsonObject {
  const { output } = response
  if (!Array.isArray(output)) return response
  if (output.filter(isCallObject).length !== ids.length) return response
  let next = 0
  const items = patchList<Json>(output, (item) =>
    isCallObject(item) ? fillCallId(item, ids[next++]) : item,
  )
  return patchObject(response, { output: items })
}

function isCallObject(item: unknown): item is JsonObject {
  return isObject(item) && (item['type'] === 'function_call' || item['type'] === 'custom_tool_call')
}

function fillCallId(item: JsonObject, callId: string | undefined): JsonObject {
  const { call_id: sent } = item
  const isMissing = typeof sent !== 'string' || sent === ''
  return isCallObject(item) && isMissing ? patchObject(item, { call_id: callId }) : item
}
