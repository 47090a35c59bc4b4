/**
 * Writes events for Open WebUI, of which none may be longer than 64 KiB: over a longer line it gives up
 * the whole answer. It puts an answer together from the deltas and from `response.completed`, so what
 * only repeats them is left out where it is too long; what it could not do without is cut.
 */
import {
  isObject,
  tryParseJsonObject,
  type Json,
  type JsonObject,
} from '../../../core/json/json.ts'
import { exceedsByteLimit, MAX_LINE_BYTES } from '../../exceeds-line-byte-limit.ts'
import { createEventWriter, type EventWriter } from './event-writer.ts'

export function createSizeLimitedEventWriter(): EventWriter {
  const { write, writeFrom, ...rest } = createEventWriter()
  return {
    ...rest,
    write(type, fields) {
      if (!exceedsByteLimit(fields, MAX_LINE_BYTES)) write(type, fields)
      else if (type === 'response.output_item.added') write(type, cutItem(fields))
      else if (!repeatsEarlierEvents(type)) write(type, fields)
    },
    writeFrom(type, beginning) {
      writeFrom(
        type,
        exceedsByteLimit(beginning, MAX_LINE_BYTES) ? withoutLogprobs(beginning) : beginning,
      )
    },
  }
}

/** Whether an event of this type only says again what the deltas and the end of the answer say. */
export function repeatsEarlierEvents(type: string): boolean {
  return REPEATS.test(type)
}

const REPEATS = /\.(?:done|annotation\.added)$|^response\.content_part\.added$/

/** It does not read them. Quotes in the delta are escaped, so these words cannot stand in there. */
function withoutLogprobs(delta: string): string {
  const at = delta.indexOf(',"logprobs":')
  return at < 0 ? delta : `${delta.slice(0, at)},"logprobs":[]`
}

/**
 * An item that is told at once. It has to be there, for the places of the others are counted with it,
 * and a call whose output is missing would be run.
 */
function cutItem(fields: string): string {
  const { output_index: index, item } = tryParseJsonObject(`{${fields}}`) ?? {}
  if (!isObject(item)) return fields
  return `"output_index":${JSON.stringify(index)},"item":${JSON.stringify(shortenItem(item))}`
}

/** The item without what is long in it. */
export function shortenItem(item: JsonObject): JsonObject {
  const { output, ...own } = item
  const short = Object.entries(own).filter(([, value]) => JSON.stringify(value).length <= MAX_FIELD)
  return {
    ...Object.fromEntries(short),
    ...(Array.isArray(output) ? { output: cutOutput(output) } : {}),
  }
}

const MAX_FIELD = 2000
const MAX_OUTPUT = 10_000

/** The words alone, and not all of them. */
function cutOutput(parts: readonly Json[]): readonly JsonObject[] {
  let text = ''
  for (const part of parts) {
    if (isObject(part) && typeof part['text'] === 'string') text += part['text']
  }
  if (text.length > MAX_OUTPUT) text = `${text.slice(0, MAX_OUTPUT).toWellFormed()}…`
  return [{ type: 'input_text', text }]
}
