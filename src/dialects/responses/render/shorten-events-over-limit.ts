/**
 * Shortens events for clients that cannot read a line of more than 128 KiB. Only longer events are
 * changed: fields that the client has anyway are removed, e.g. its own tools and the text of deltas.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import { isObject, tryParseJsonObject, type JsonObject } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import { exceedsByteLimit } from '../../exceeds-line-byte-limit.ts'
import { repeatsEarlierEvents, shortenItem } from './size-limited-event-writer.ts'

/** `parse` is for callers that may have parsed the message already. */
type ShortenEvent = (message: SseMessage, parse?: typeof parseMessage) => SseMessage

/** The function returns the same message for other clients, and if it is short enough. */
export function createEventShortener({ clientRequest: { client } }: AnswerContext): ShortenEvent {
  if (!client.hasShortLines) return (message) => message
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
  // Clients ignore an empty event.
  return typeof type === 'string' && repeatsEarlierEvents(type) ? { data: '{}' } : message
}

const ECHOED_FIELDS = {
  tools: undefined,
  instructions: undefined,
  metadata: undefined,
  prompt: undefined,
}

/** 128 KiB, less 1 KiB for the event name and the line prefixes. */
const MAX_EVENT_BYTES = 128 * 1024 - 1024

function isShort({ data }: SseMessage): boolean {
  return !exceedsByteLimit(data, MAX_EVENT_BYTES)
}

function replaceJson(message: SseMessage, json: JsonObject): SseMessage {
  return { ...message, data: JSON.stringify(json) }
}
