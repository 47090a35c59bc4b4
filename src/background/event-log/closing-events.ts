/**
 * Creates the last events of a run that cannot end its log itself, because it was cancelled or its
 * replica died. Closes every open item with its text so far, in the order that the Responses API
 * publishes, and adds one terminal event. The API has no event for "cancelled", and clients throw on
 * unknown events, so a cancelled run ends with `response.failed` without an error and `status:
 * "cancelled"`.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Item } from '../../core/item.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { renderResponseError } from '../../dialects/responses/render/render-response-fields.ts'
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import type { PlacedItem } from '../../store/turns/turn-store-interface.ts'
import { formatSseMessage, createSseTextDecoder } from '../../core/stream/sse.ts'
import {
  createPartialItemReader,
  type PartialItem,
  type PartialPart,
} from './rebuild-items-from-events.ts'

export interface ClosingEvents {
  readonly events: EventGroup
  /** Unfinished messages with their text so far, for the store. */
  readonly items: readonly PlacedItem[]
}

export interface RunLogEnding {
  readonly status: 'cancelled' | 'failed'
  readonly failure: Failure | null
  /** Indexes of stored items, which may lack their end event in the log. */
  readonly finished: ReadonlySet<number>
}

/** Returns null for a log without any response. */
export function createClosingEvents(
  log: readonly EventGroup[],
  ending: RunLogEnding,
): ClosingEvents | null {
  const logged = readLog(log)
  if (logged.response === null) return null
  const writer = createEventWriter((log.at(-1)?.last ?? -1) + 1)
  const output: JsonObject[] = []
  const items: PlacedItem[] = []
  for (const [index, partial] of [...logged.items].toSorted(([one], [other]) => one - other)) {
    const isFinished = partial.isDone || ending.finished.has(index)
    const item = partial.isDone ? partial.item : closeItem(partial, index, isFinished, writer)
    output.push(item)
    if (!isFinished && isReadableMessage(item)) items.push({ position: index, item })
  }
  const { failure, status } = ending
  const error = failure === null ? null : renderResponseError(failure)
  const response = { ...logged.response, status, error, completed_at: null, output }
  if (failure !== null) {
    const { type, code, message, param } = failure
    writer.write('error', { error: { type, code, message, param }, code, message, param })
  }
  writer.write('response.failed', { response })
  return { events: writer.written(), items }
}

function readLog(log: readonly EventGroup[]) {
  const sse = createSseTextDecoder()
  const reader = createPartialItemReader()
  let response: JsonObject | null = null
  for (const { text } of log) {
    for (const { data } of sse.push(text)) {
      const event: unknown = JSON.parse(data)
      if (!isObject(event)) continue
      if (isObject(event['response'])) response = event['response']
      reader.read(event)
    }
  }
  return { response, items: reader.items }
}

interface EventWriter {
  readonly write: (type: string, fields: JsonObject) => void
  readonly written: () => EventGroup
}

function createEventWriter(first: number): EventWriter {
  let next = first
  let text = ''
  return {
    write(type, fields) {
      const data = JSON.stringify({ type, ...fields, sequence_number: next++ })
      text += formatSseMessage({ event: type, data })
    },
    written: () => ({ first, last: next - 1, text }),
  }
}

/** Writes the missing end events of an item and returns the closed item. */
function closeItem(
  partial: PartialItem,
  outputIndex: number,
  isFinished: boolean,
  writer: EventWriter,
): JsonObject {
  const { item } = partial
  const ids = { item_id: item['id'], output_index: outputIndex }
  const content = partial.content.map((part, index) =>
    closePart(part, { ...ids, content_index: index }, CONTENT_PART_DONE, writer),
  )
  const summary = partial.summary.map((part, index) =>
    closePart(part, { ...ids, summary_index: index }, SUMMARY_PART_DONE, writer),
  )
  const closed = {
    ...item,
    ...('status' in item ? { status: isFinished ? 'completed' : 'incomplete' } : {}),
    ...(content.length > 0 ? { content } : {}),
    ...(summary.length > 0 ? { summary } : {}),
    ...closeCall(partial, ids, writer),
  }
  writer.write('response.output_item.done', { output_index: outputIndex, item: closed })
  return closed
}

const CONTENT_PART_DONE = 'response.content_part.done'
const SUMMARY_PART_DONE = 'response.reasoning_summary_part.done'

type TextEndings = ReadonlyMap<unknown, readonly [event: string, field: string]>

/** End event of a text and the field that contains the text, by type of the part. */
const PART_ENDINGS: TextEndings = new Map([
  ['output_text', ['response.output_text.done', 'text']],
  ['refusal', ['response.refusal.done', 'refusal']],
  ['reasoning_text', ['response.reasoning_text.done', 'text']],
  ['summary_text', ['response.reasoning_summary_text.done', 'text']],
])

function closePart(
  { part, text, hasTextEnded, isDone }: PartialPart,
  ids: JsonObject,
  partDone: string,
  writer: EventWriter,
): JsonObject {
  const [textDone, field] = PART_ENDINGS.get(part['type']) ?? []
  // Parts of other types have no text to complete.
  const closed = field === undefined ? part : { ...part, [field]: text }
  if (textDone !== undefined && field !== undefined && !hasTextEnded) {
    const logprobs = part['type'] === 'output_text' ? { logprobs: [] } : {}
    writer.write(textDone, { ...ids, [field]: text, ...logprobs })
  }
  if (!isDone) writer.write(partDone, { ...ids, part: closed })
  return closed
}

const CALL_ENDINGS: TextEndings = new Map([
  ['function_call', ['response.function_call_arguments.done', 'arguments']],
  ['custom_tool_call', ['response.custom_tool_call_input.done', 'input']],
])

function closeCall(
  { item, text, hasTextEnded }: PartialItem,
  ids: JsonObject,
  writer: EventWriter,
): JsonObject {
  const [event, field] = CALL_ENDINGS.get(item['type']) ?? []
  if (event === undefined || field === undefined) return {}
  if (!hasTextEnded) writer.write(event, { ...ids, [field]: text })
  return { [field]: text }
}

/** True for a message with content. Unfinished items of other types cannot be read on their own. */
function isReadableMessage(item: JsonObject): item is JsonObject & Item {
  const { type, content } = item
  return type === 'message' && Array.isArray(content) && content.length > 0
}
