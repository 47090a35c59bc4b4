/**
 * Creates the last events of a run that was cancelled, that failed, or whose replica died. They end every
 * open item with its text so far, in the order of the Responses API. A terminal event follows. That of a
 * cancelled run is `response.failed` without an error and with `status: "cancelled"`, because the API has
 * no event for a cancelled run, and clients throw on unknown events.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Item } from '../../core/item.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { renderResponseError } from '../../dialects/responses/render/render-response-fields.ts'
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import type { PlacedItem } from '../../store/turns/turn-store-interface.ts'
import { formatSseMessage, createSseTextDecoder } from '../../core/stream/sse.ts'
import {
  createItemRebuilder,
  type PartialItem,
  type PartialPart,
} from './rebuild-items-from-events.ts'

export interface ClosingEvents {
  readonly events: EventGroup
  /** Unfinished messages with their text so far, which have to be stored. */
  readonly unfinishedItems: readonly PlacedItem[]
}

export interface RunLogEnding {
  readonly status: 'cancelled' | 'failed'
  readonly failure: Failure | null
  /**
   * Client indexes of the items that are stored already. These items are complete, even if the log lacks
   * their end events.
   */
  readonly storedIndexes: ReadonlySet<number>
  /** True if the closing events contain no items, because the database rejects those. */
  readonly omitsItems?: boolean
}

/**
 * Creates the closing events. Returns null if the log contains no response object, which a terminal event
 * needs.
 */
export function createClosingEvents(
  log: readonly EventGroup[],
  ending: RunLogEnding,
): ClosingEvents | null {
  const logged = readLog(log)
  if (logged.response === null) return null
  const writer = createEventWriter((log.at(-1)?.last ?? -1) + 1)
  const output: JsonObject[] = []
  const items: PlacedItem[] = []
  const partials = ending.omitsItems === true ? [] : [...logged.items]
  for (const [index, partial] of partials.toSorted(([one], [other]) => one - other)) {
    const isFinished = partial.isDone || ending.storedIndexes.has(index)
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
  return { events: writer.getWrittenEvents(), unfinishedItems: items }
}

function readLog(log: readonly EventGroup[]) {
  const sse = createSseTextDecoder()
  const reader = createItemRebuilder()
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

type EventWriter = ReturnType<typeof createEventWriter>

function createEventWriter(first: number) {
  let next = first
  let text = ''
  return {
    write(type: string, fields: JsonObject): void {
      const data = JSON.stringify({ type, ...fields, sequence_number: next++ })
      text += formatSseMessage({ event: type, data })
    },
    getWrittenEvents: (): EventGroup => ({ first, last: next - 1, text }),
  }
}

/** Writes the end events that the log lacks for an item, and returns the ended item. */
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

/**
 * By type of a content part: the event that ends its text, and the field that contains the text in the
 * event and in the part.
 */
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
  // Parts of other types have no text.
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

/** True for a message with content. Other unfinished items, e.g. half a tool call, are not worth storing. */
function isReadableMessage(item: JsonObject): item is JsonObject & Item {
  const { type, content } = item
  return type === 'message' && Array.isArray(content) && content.length > 0
}
