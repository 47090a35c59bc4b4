/**
 * Applies one event of the Responses API to the stored items, as Open WebUI does in any stream. It ignores
 * `output_item.done`: data that occurs only there is lost, unless the final response has it.
 */
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'
import type { StoredItem } from './stored-item.ts'

/** The items of the response in progress, by output index. */
export type PartialItems = readonly (StoredItem | undefined)[]

export function readResponseEvent(event: JsonObject, told: PartialItems): PartialItems {
  const { type, item, output_index: at, delta, text, arguments: args, response } = event
  switch (type) {
    case 'response.output_item.added':
      return isObject(item) ? setItem(told, indexOf(at, told), storedItem(item)) : told
    case 'response.completed': {
      const output = isObject(response) ? response['output'] : undefined
      if (!Array.isArray(output)) return told
      const items = (output as Json[]).filter(isObject).map(storedItem)
      // The items before the last ones existed before the answer was continued.
      return told.length === 0 ? items : items.slice(-told.length)
    }
    case 'response.output_text.delta':
    case 'response.reasoning_text.delta':
    case 'response.reasoning_summary_text.delta':
    case 'response.function_call_arguments.delta':
      return change(told, at, (item) => appendText(item, textOf(delta)))
    case 'response.output_text.done':
      return change(told, at, (item) =>
        item.type === 'message' ? { ...item, text: textOf(text) } : item,
      )
    case 'response.function_call_arguments.done':
      return change(told, at, (item) =>
        item.type === 'function_call' ? { ...item, args: textOf(args) } : item,
      )
    default:
      return told
  }
}

function setItem(told: PartialItems, at: number, item: StoredItem): PartialItems {
  const items = [...told]
  items[at] = item
  return items
}

function change(
  told: PartialItems,
  index: Json | undefined,
  by: (item: StoredItem) => StoredItem,
): PartialItems {
  const at = indexOf(index, told)
  const item = told[at]
  return item === undefined ? told : setItem(told, at, by(item))
}

function indexOf(at: Json | undefined, told: PartialItems): number {
  return typeof at === 'number' ? at : told.length
}

function appendText(item: StoredItem, text: string): StoredItem {
  if (item.type === 'message' || item.type === 'reasoning') {
    return { ...item, text: item.text + text }
  }
  return item.type === 'function_call' ? { ...item, args: item.args + text } : item
}

function storedItem(item: JsonObject): StoredItem {
  const { type, call_id: id, name, arguments: args, output } = item
  switch (type) {
    case 'message':
      return { type, text: textsOf(item['content']).join('\n') }
    case 'reasoning': {
      const texts = [...textsOf(item['summary']), ...textsOf(item['content'])]
      return { type, text: texts.join('\n'), details: [] }
    }
    case 'function_call':
      return { type, callId: textOf(id), name: textOf(name), args: textOf(args) }
    case 'function_call_output': {
      const parts = typeof output === 'string' ? output : textsOf(output)
      return { type, callId: textOf(id), parts }
    }
    default:
      return { type: 'other', raw: item }
  }
}

function textsOf(parts: Json | undefined): readonly string[] {
  if (!Array.isArray(parts)) return []
  return (parts as readonly Json[]).filter(isObject).map(({ text }) => textOf(text))
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
