/**
 * Converts stored items to the raw items to which Open WebUI applies the events of a response, and back.
 */
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'
import type { StoredItem } from './stored-item.ts'

export function toRawItem(item: StoredItem): JsonObject {
  switch (item.type) {
    case 'message':
      return { type: 'message', content: [{ type: 'output_text', text: item.text }] }
    case 'reasoning': {
      const summary = [{ type: 'summary_text', text: item.text }]
      return { type: 'reasoning', summary, reasoning_details: item.details }
    }
    case 'function_call':
      return { type: item.type, call_id: item.callId, name: item.name, arguments: item.args }
    case 'function_call_output': {
      const { callId, parts } = item
      const output = typeof parts === 'string' ? parts : parts.map((text) => ({ text }))
      return { type: item.type, call_id: callId, output }
    }
    case 'other':
      return item.raw
  }
}

export function toStoredItem(item: JsonObject): StoredItem {
  const { type, call_id: id, name, arguments: args, output, reasoning_details: details } = item
  switch (type) {
    case 'message':
      return { type, text: textsOf(item['content']).join('') }
    case 'reasoning': {
      const texts = [...textsOf(item['summary']), ...textsOf(item['content'])]
      const known = Array.isArray(details) ? (details as readonly Json[]).filter(isObject) : []
      return { type, text: texts.join('\n'), details: known }
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
