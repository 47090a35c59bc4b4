/**
 * Shortens events for clients that cannot read a line of more than 128 KiB. Other events are not
 * changed. Removes fields that the client has anyway: those of its own request, e.g. `tools`, or
 * text that earlier events contained.
 */
import { isObject, tryParseJsonObject, type JsonObject } from '../../../core/json/json.ts'
import { patchObject } from '../../../core/json/patch-object.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import { exceedsByteLimit } from '../../stream-line-limits.ts'
import { isRedundantEventType, shortenItem } from './line-limited-event-collector.ts'

/**
 * A function that shortens a message if it is too long. A caller that may have parsed the message
 * passes `parse`, so that it is not parsed twice.
 */
type ShortenEvent = (message: SseMessage, parse?: typeof parseMessage) => SseMessage

/**
 * Creates the function that shortens the messages for a client. It returns the same message if the
 * message is short enough, or if the client can read long lines.
 */
export function createEventShortener({ clientRequest: { client } }: AnswerContext): ShortenEvent {
  if (!client.dropsLongLines) return (message) => message
  return (message, parse = parseMessage) =>
    isShort(message) ? message : shortenEvent(message, parse(message))
}

function parseMessage({ data }: SseMessage): JsonObject | null {
  return tryParseJsonObject(data)
}

function shortenEvent(message: SseMessage, json: JsonObject | null): SseMessage {
  if (json === null) return message
  const { type, response, item } = json
  if (isObject(response)) {
    const withoutEchoes = patchObject(response, ECHOED_FIELDS)
    const shortened = replaceJson(message, patchObject(json, { response: withoutEchoes }))
    if (isShort(shortened)) return shortened
    const withoutOutput = patchObject(withoutEchoes, { output: undefined })
    const shortest = replaceJson(message, patchObject(json, { response: withoutOutput }))
    return isShort(shortest) ? shortest : message
  }
  if (type === 'response.output_item.added' && isObject(item)) {
    return replaceJson(message, patchObject(json, { item: shortenItem(item) }))
  }
  // A redundant event is replaced by an empty event, which clients ignore.
  return typeof type === 'string' && isRedundantEventType(type) ? { data: '{}' } : message
}

const ECHOED_FIELDS = {
  tools: undefined,
  instructions: undefined,
  metadata: undefined,
  prompt: undefined,
}

/** Maximum size of an event: 128 KiB, minus 1 KiB for the event name and the line prefixes. */
const MAX_EVENT_BYTES = 128 * 1024 - 1024

function isShort({ data }: SseMessage): boolean {
  return !exceedsByteLimit(data, MAX_EVENT_BYTES)
}

function replaceJson(message: SseMessage, json: JsonObject): SseMessage {
  return { ...message, data: JSON.stringify(json) }
}
