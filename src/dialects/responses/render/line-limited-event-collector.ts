/**
 * Collects events for Open WebUI, which aborts an answer at a line of more than 128 KiB. Open WebUI
 * builds an answer from the starts of items, the deltas and the last event. Redundant events over
 * 64,000 bytes are therefore dropped. Starts of items over this limit are shortened.
 */
import {
  isObject,
  tryParseJsonObject,
  type Json,
  type JsonObject,
} from '../../../core/json/json.ts'
import { exceedsByteLimit, MAX_LINE_BYTES } from '../../stream-line-limits.ts'
import { createSseEventCollector, type SseEventCollector } from './sse-event-collector.ts'

export function createLineLimitedEventCollector(): SseEventCollector {
  const { addEvent, addPrebuiltEvent, ...rest } = createSseEventCollector()
  return {
    ...rest,
    addEvent(type, fields) {
      if (!exceedsByteLimit(fields, MAX_LINE_BYTES)) addEvent(type, fields)
      else if (type === 'response.output_item.added') addEvent(type, shortenItemFields(fields))
      else if (!isRedundantEventType(type)) addEvent(type, fields)
    },
    addPrebuiltEvent(type, eventStart) {
      const isTooLong = exceedsByteLimit(eventStart, MAX_LINE_BYTES)
      addPrebuiltEvent(type, isTooLong ? removeLogprobs(eventStart) : eventStart)
    },
  }
}

/**
 * True if events of this type are redundant: their content is in earlier deltas, or again in the
 * event that ends the answer.
 */
export function isRedundantEventType(eventType: string): boolean {
  return /\.(?:done|annotation\.added)$|^response\.content_part\.added$/.test(eventType)
}

/**
 * Removes logprobs, which Open WebUI does not read. The search for `,"logprobs":` cannot match in
 * the text of the delta, because quotes are escaped there.
 */
function removeLogprobs(eventStart: string): string {
  const start = eventStart.indexOf(',"logprobs":')
  return start < 0 ? eventStart : `${eventStart.slice(0, start)},"logprobs":[]`
}

/**
 * Shortens an item that is complete when it starts, e.g. the output of a gateway tool. The event of
 * the start cannot be dropped: Open WebUI counts items, and would run a tool call that has no
 * output.
 */
function shortenItemFields(fields: string): string {
  const json = tryParseJsonObject(`{${fields}}`)
  if (!isObject(json?.['item'])) return fields
  return JSON.stringify({ ...json, item: shortenItem(json['item']) }).slice(1, -1)
}

/** Removes the long fields of an item and shortens its output. */
export function shortenItem(item: JsonObject): JsonObject {
  const { output, ...fields } = item
  const shortFields = Object.entries(fields).filter(
    ([, value]) => JSON.stringify(value).length <= MAX_FIELD_CHARS,
  )
  return {
    ...Object.fromEntries(shortFields),
    ...(Array.isArray(output) ? { output: shortenOutput(output) } : {}),
  }
}

const MAX_FIELD_CHARS = 2000
const MAX_OUTPUT_CHARS = 10_000

/**
 * Returns an output as one text part of at most 10,000 characters, followed by `…` if text was
 * removed.
 */
function shortenOutput(parts: readonly Json[]): readonly JsonObject[] {
  let text = ''
  for (const part of parts) {
    if (isObject(part) && typeof part['text'] === 'string') text += part['text']
  }
  if (text.length > MAX_OUTPUT_CHARS) text = `${text.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}…`
  return [{ type: 'input_text', text }]
}
