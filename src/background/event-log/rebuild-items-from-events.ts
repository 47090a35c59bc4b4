/**
 * Rebuilds the items of an answer from its Responses events: finished items, and unfinished items with
 * their text so far. The events were rendered by the gateway or passed through from an upstream.
 */
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../core/json/json.ts'

interface PartialText {
  text: string
  /** True after the event that ends the text, e.g. `response.output_text.done`. */
  hasTextEnded: boolean
}

export interface PartialPart extends PartialText {
  readonly part: JsonObject
  isDone: boolean
}

/**
 * An item as far as it was streamed. `text`: arguments or input of a call; the text of a message is in
 * `content`.
 */
export interface PartialItem extends PartialText {
  readonly item: JsonObject
  readonly isDone: boolean
  readonly content: PartialPart[]
  readonly summary: PartialPart[]
}

export function createItemRebuilder() {
  const items = new Map<number, PartialItem>()
  return {
    /** The items so far, by their index in the output. */
    items,
    read(event: JsonObject): void {
      const { type, output_index: index, item } = event
      if (typeof index !== 'number' || typeof type !== 'string') return
      if (isObject(item)) {
        const isDone = type === 'response.output_item.done'
        items.set(index, { item, isDone, content: [], summary: [], text: '', hasTextEnded: false })
        return
      }
      const partialItem = items.get(index)
      if (partialItem !== undefined) applyEvent(partialItem, type, event)
    },
  }
}

function applyEvent(item: PartialItem, type: string, event: JsonObject): void {
  const { content_index: contentIndex, summary_index: summaryIndex, part: newPart } = event
  const isContent = typeof contentIndex === 'number'
  const index = isContent ? contentIndex : summaryIndex
  const parts = isContent ? item.content : item.summary
  // An event without an index of a part is about the arguments or the input of a call.
  const target = typeof index === 'number' ? parts[index] : item
  if (type.endsWith('_part.added')) {
    if (typeof index !== 'number' || !isObject(newPart)) return
    parts[index] = { part: structuredClone(newPart), text: '', hasTextEnded: false, isDone: false }
  } else if (target === undefined) {
    return
  } else if (type.endsWith('.delta')) {
    target.text += textOrEmpty(event['delta'])
  } else if (type.endsWith('_part.done')) {
    if ('part' in target) target.isDone = true
  } else if (type.endsWith('.done')) {
    const { text, refusal, arguments: callArguments, input } = event
    target.text = textOrEmpty(text ?? refusal ?? callArguments ?? input)
    target.hasTextEnded = true
  } else if ('part' in target && type.endsWith('.annotation.added')) {
    const annotations = target.part['annotations']
    if (Array.isArray(annotations)) (annotations as Json[]).push(event['annotation'] ?? null)
  }
}
