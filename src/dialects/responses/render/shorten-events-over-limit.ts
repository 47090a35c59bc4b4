/**
 * Events for a client that cannot read a line of more than 128 KiB. Only those that it could not read
 * become shorter, by what it has anyway: what it asked, and what the deltas have said.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import { isObject, tryParseJsonObject, type JsonObject } from '../../../core/json/json.ts'
import type { SseMessage } from '../../../core/stream/stage.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import { exceedsByteLimit } from '../../exceeds-line-byte-limit.ts'
import { repeatsEarlierEvents, shortenItem } from './size-limited-event-writer.ts'

/** `jsonOf` is for who may have read the message already. */
type Shorten = (message: SseMessage, jsonOf?: typeof parsed) => SseMessage

/** The same message for any other client, and where it is short enough. */
export function createEventShortener({ clientRequest: { client } }: AnswerContext): Shorten {
  if (!client.hasShortLines) return (message) => message
  return (message, jsonOf = parsed) =>
    exceedsByteLimit(message.data, MAX_BYTES) ? shortened(message, jsonOf(message)) : message
}

function parsed({ data }: SseMessage): JsonObject | null {
  return tryParseJsonObject(data)
}

/** What is left is for the frame of an event. */
const MAX_BYTES = 128 * 1024 - 1024

function shortened(message: SseMessage, json: JsonObject | null): SseMessage {
  if (json === null) return message
  const { type, response, item } = json
  if (isObject(response)) {
    const shown = patchObject(response, ECHOES)
    const slim = withJson(message, patchObject(json, { response: shown }))
    if (isShort(slim)) return slim
    const withoutOutput = patchObject(shown, { output: undefined })
    const least = withJson(message, patchObject(json, { response: withoutOutput }))
    return isShort(least) ? least : message
  }
  if (type === 'response.output_item.added' && isObject(item)) {
    return withJson(message, patchObject(json, { item: shortenItem(item) }))
  }
  // Nobody minds an event that says nothing.
  return typeof type === 'string' && repeatsEarlierEvents(type) ? { data: '{}' } : message
}

const ECHOES = { tools: undefined, instructions: undefined, metadata: undefined, prompt: undefined }

function isShort({ data }: SseMessage): boolean {
  return !exceedsByteLimit(data, MAX_BYTES)
}

function withJson(message: SseMessage, json: JsonObject): SseMessage {
  return { ...message, data: JSON.stringify(json) }
}
