/**
 * Ends a log from outside, where the answer itself cannot: of a run that was cancelled, or whose
 * replica died. What is open is closed with what was said of it, in the order that is published, and
 * one terminal event is last. There is no event for "cancelled", and clients throw on what they do
 * not know: it is told as `response.failed` without an error, of a response whose status says it.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Item } from '../../core/item.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { renderResponseError } from '../../dialects/responses/render/render-response-fields.ts'
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import type { PlacedItem } from '../../store/turns/turn-store-interface.ts'
import { formatSseMessage, createSseDecoder } from '../../core/stream/sse.ts'
import {
  createPartialItemReader,
  type PartialItem,
  type PartialItemPart,
} from './rebuild-items-from-events.ts'

export interface ClosingEvents {
  readonly events: EventGroup
  /** What was said of messages that were not finished, to be kept with the others. */
  readonly items: readonly PlacedItem[]
}

export interface RunLogEnding {
  readonly status: 'cancelled' | 'failed'
  readonly failure: Failure | null
  /** Places of the items that are kept already, whether their end was told or not. */
  readonly finished: ReadonlySet<number>
}

/** `null` for a log that has not begun. */
export function createClosingEvents(
  log: readonly EventGroup[],
  ending: RunLogEnding,
): ClosingEvents | null {
  const told = readAll(log)
  if (told.response === null) return null
  const first = (log.at(-1)?.last ?? -1) + 1
  const voice = writer(first)
  const output: JsonObject[] = []
  const items: PlacedItem[] = []
  for (const [at, draft] of [...told.drafts].toSorted(([one], [other]) => one - other)) {
    const isFinished = draft.isDone || ending.finished.has(at)
    const item = draft.isDone ? draft.item : close(draft, at, isFinished, voice)
    output.push(item)
    if (!isFinished && saysSomething(item)) items.push({ position: at, item })
  }
  const { failure, status } = ending
  const error = failure === null ? null : renderResponseError(failure)
  const response = { ...told.response, status, error, completed_at: null, output }
  if (failure !== null) {
    const { type, code, message, param } = failure
    voice.tell('error', { error: { type, code, message, param }, code, message, param })
  }
  voice.tell('response.failed', { response })
  return { events: voice.written(), items }
}

function readAll(log: readonly EventGroup[]) {
  const sse = createSseDecoder()
  const items = createPartialItemReader()
  let response: JsonObject | null = null
  for (const { text } of log) {
    for (const { data } of sse.push(utf8.encode(text))) {
      const event: unknown = JSON.parse(data)
      if (!isObject(event)) continue
      if (isObject(event['response'])) response = event['response']
      items.read(event)
    }
  }
  return { response, drafts: items.all }
}

const utf8 = new TextEncoder()

interface Voice {
  readonly tell: (type: string, fields: JsonObject) => void
  readonly written: () => EventGroup
}

function writer(first: number): Voice {
  let next = first
  let text = ''
  return {
    tell(type, fields) {
      const data = JSON.stringify({ type, ...fields, sequence_number: next++ })
      text += formatSseMessage({ event: type, data })
    },
    written: () => ({ first, last: next - 1, text }),
  }
}

/** Tells the end of an item that has none, and returns the item as it ends. */
function close(draft: PartialItem, at: number, isFinished: boolean, voice: Voice): JsonObject {
  const { item } = draft
  const place = { item_id: item['id'], output_index: at }
  const content = draft.content.map((part, index) =>
    closePart(part, { ...place, content_index: index }, CONTENT, voice),
  )
  const summary = draft.summary.map((part, index) =>
    closePart(part, { ...place, summary_index: index }, SUMMARY, voice),
  )
  const closed = {
    ...item,
    ...('status' in item ? { status: isFinished ? 'completed' : 'incomplete' } : {}),
    ...(content.length > 0 ? { content } : {}),
    ...(summary.length > 0 ? { summary } : {}),
    ...closeCall(draft, place, voice),
  }
  voice.tell('response.output_item.done', { output_index: at, item: closed })
  return closed
}

const CONTENT = 'response.content_part.done'
const SUMMARY = 'response.reasoning_summary_part.done'

type Words = Readonly<Record<string, readonly [event: string, field: string] | undefined>>

function wordsFor(words: Words, { type }: JsonObject) {
  return (typeof type === 'string' ? words[type] : undefined) ?? []
}

/** The event that closes the text of a part, by the part's type, and what it calls the text. */
const TEXTS: Words = {
  output_text: ['response.output_text.done', 'text'],
  refusal: ['response.refusal.done', 'refusal'],
  reasoning_text: ['response.reasoning_text.done', 'text'],
  summary_text: ['response.reasoning_summary_text.done', 'text'],
}

function closePart(
  { part, text, hasSaid, isDone }: PartialItemPart,
  place: JsonObject,
  event: string,
  voice: Voice,
): JsonObject {
  const [said, field] = wordsFor(TEXTS, part)
  // A part without text is whole as it stands.
  const closed = field === undefined ? part : { ...part, [field]: text }
  if (said !== undefined && field !== undefined && !hasSaid) {
    const logprobs = part['type'] === 'output_text' ? { logprobs: [] } : {}
    voice.tell(said, { ...place, [field]: text, ...logprobs })
  }
  if (!isDone) voice.tell(event, { ...place, part: closed })
  return closed
}

const CALLS: Words = {
  function_call: ['response.function_call_arguments.done', 'arguments'],
  custom_tool_call: ['response.custom_tool_call_input.done', 'input'],
}

function closeCall(draft: PartialItem, place: JsonObject, voice: Voice): JsonObject {
  const [event, field] = wordsFor(CALLS, draft.item)
  if (event === undefined || field === undefined) return {}
  if (!draft.hasSaid) voice.tell(event, { ...place, [field]: draft.said })
  return { [field]: draft.said }
}

/** Of what is unfinished only a message can be read on its own. */
function saysSomething(item: JsonObject): item is JsonObject & Item {
  const { type, content } = item
  return type === 'message' && Array.isArray(content) && content.length > 0
}
