/**
 * What the events of a log have told of the items of its answer: those that are finished, and of
 * those that are not, what was said so far. Reads any stream of Responses events, ours or an
 * upstream's.
 */
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../core/json/json.ts'

export interface PartialItem {
  readonly item: JsonObject
  readonly isDone: boolean
  /** The parts of a message's or of reasoning's content, and those of its summary. */
  readonly content: PartialItemPart[]
  readonly summary: PartialItemPart[]
  /** Arguments of a function call, or input of a custom call. */
  said: string
  hasSaid: boolean
}

export interface PartialItemPart {
  readonly part: JsonObject
  text: string
  /** Whether its text was closed, and whether the part was. */
  hasSaid: boolean
  isDone: boolean
}

export interface PartialItemReader {
  readonly read: (event: JsonObject) => void
  /** By place in the output. */
  readonly all: ReadonlyMap<number, PartialItem>
}

export function createPartialItemReader(): PartialItemReader {
  const all = new Map<number, PartialItem>()
  return {
    all,
    read(event) {
      const { type, output_index: at, item } = event
      if (typeof at !== 'number') return
      if (isObject(item)) {
        const isDone = type === 'response.output_item.done'
        all.set(at, { item, isDone, content: [], summary: [], said: '', hasSaid: false })
        return
      }
      const draft = all.get(at)
      if (draft !== undefined && typeof type === 'string') HANDLERS[type]?.(draft, event)
    },
  }
}

type Handler = (draft: PartialItem, event: JsonObject) => void

const HANDLERS: Readonly<Record<string, Handler | undefined>> = {
  'response.content_part.added': begin,
  'response.content_part.done': done,
  'response.output_text.delta': say,
  'response.output_text.done': said,
  'response.refusal.delta': say,
  'response.refusal.done': said,
  'response.reasoning_text.delta': say,
  'response.reasoning_text.done': said,
  'response.reasoning_summary_part.added': begin,
  'response.reasoning_summary_part.done': done,
  'response.reasoning_summary_text.delta': say,
  'response.reasoning_summary_text.done': said,
  'response.output_text.annotation.added'(draft, event) {
    const place = partOf(draft, event)
    const annotations = place?.part['annotations']
    if (Array.isArray(annotations)) (annotations as Json[]).push(event['annotation'] ?? null)
  },
  'response.function_call_arguments.delta': call,
  'response.function_call_arguments.done': called,
  'response.custom_tool_call_input.delta': call,
  'response.custom_tool_call_input.done': called,
}

function begin(draft: PartialItem, event: JsonObject): void {
  const { part, content_index: content, summary_index: summary } = event
  if (!isObject(part)) return
  const fresh = { part: structuredClone(part), text: '', hasSaid: false, isDone: false }
  if (typeof content === 'number') draft.content[content] = fresh
  else if (typeof summary === 'number') draft.summary[summary] = fresh
}

function say(draft: PartialItem, event: JsonObject): void {
  const place = partOf(draft, event)
  if (place !== undefined) place.text += textOrEmpty(event['delta'])
}

function said(draft: PartialItem, event: JsonObject): void {
  const place = partOf(draft, event)
  if (place === undefined) return
  place.text = textOrEmpty(event['text'] ?? event['refusal'])
  place.hasSaid = true
}

function done(draft: PartialItem, event: JsonObject): void {
  const place = partOf(draft, event)
  if (place !== undefined) place.isDone = true
}

function call(draft: PartialItem, event: JsonObject): void {
  draft.said += textOrEmpty(event['delta'])
}

function called(draft: PartialItem, event: JsonObject): void {
  draft.said = textOrEmpty(event['arguments'] ?? event['input'])
  draft.hasSaid = true
}

function partOf(draft: PartialItem, event: JsonObject): PartialItemPart | undefined {
  const { content_index: content, summary_index: summary } = event
  if (typeof content === 'number') return draft.content[content]
  return typeof summary === 'number' ? draft.summary[summary] : undefined
}
