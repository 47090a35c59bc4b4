/**
 * Writes events for Open WebUI in lines of less than 64 KiB, because Open WebUI aborts an answer at
 * a longer line. Open WebUI builds an answer only from the deltas and from `response.completed`. Of
 * the other events over the limit, those that repeat data are dropped, and those that start an item
 * are shortened.
 */
import {
  isObject,
  tryParseJsonObject,
  type Json,
  type JsonObject,
} from '../../../core/json/json.ts'
import { exceedsByteLimit, MAX_LINE_BYTES } from '../../stream-line-limits.ts'
import { createEventWriter, type EventWriter } from './event-writer.ts'

export function createSizeLimitedEventWriter(): EventWriter {
  const { writeEvent, writePrebuiltEvent, ...rest } = createEventWriter()
  return {
    ...rest,
    writeEvent(type, fields) {
      if (!exceedsByteLimit(fields, MAX_LINE_BYTES)) writeEvent(type, fields)
      else if (type === 'response.output_item.added') writeEvent(type, shortenItemFields(fields))
      else if (!repeatsEarlierEvents(type)) writeEvent(type, fields)
    },
    writePrebuiltEvent(type, eventStart) {
      const isTooLong = exceedsByteLimit(eventStart, MAX_LINE_BYTES)
      writePrebuiltEvent(type, isTooLong ? removeLogprobs(eventStart) : eventStart)
    },
  }
}

/**
 * True if events of this type only repeat earlier deltas, or are repeated by the end of the answer.
 */
export function repeatsEarlierEvents(eventType: string): boolean {
  return /\.(?:done|annotation\.added)$|^response\.content_part\.added$/.test(eventType)
}

/**
 * Removes logprobs, which Open WebUI does not read. The search cannot match text of the delta,
 * where quotes are escaped.
 */
function removeLogprobs(eventStart: string): string {
  const start = eventStart.indexOf(',"logprobs":')
  return start < 0 ? eventStart : `${eventStart.slice(0, start)},"logprobs":[]`
}

/**
 * Shortens an item that is complete when it starts, e.g. the output of a gateway tool. The event
 * cannot be dropped, because Open WebUI counts items, and would run a tool call that has no output.
 */
function shortenItemFields(fields: string): string {
  const { output_index: index, item } = tryParseJsonObject(`{${fields}}`) ?? {}
  if (!isObject(item)) return fields
  return `"output_index":${JSON.stringify(index)},"item":${JSON.stringify(shortenItem(item))}`
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
