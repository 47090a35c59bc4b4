/**
 * Applies an event of the Responses API to the items of a message as Open WebUI does
 * (`handle_responses_streaming_event`): the rules of 0.10.2 to 0.11.3, and those of 0.11.4 to 0.12.4.
 */
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'

export type OpenWebUiVersion = '0.10' | '0.12'

export type Items = readonly JsonObject[]

export function reduceResponseEvent(
  version: OpenWebUiVersion,
  event: JsonObject,
  items: Items,
): Items {
  const { type, item, output_index: index, response } = event
  const at = typeof index === 'number' ? index : items.length - 1
  switch (type) {
    case 'response.output_item.added':
      if (!isObject(item)) return items
      return version === '0.10' ? [...items, item] : addItem(item, index, items)
    case 'response.output_item.done':
      if (version === '0.10' || !isObject(item)) return items
      return items[at] === undefined ? [...items, item] : items.with(at, item)
    case 'response.content_part.added':
      return change(items, at, (old) => addPart(old, 'content', event['part']))
    case 'response.reasoning_summary_part.added':
      return change(items, at, (old) => addPart(old, 'summary', event['part']))
    case 'response.content_part.done':
      return change(items, at, (old) => setPart(old, 'content', event))
    case 'response.reasoning_summary_part.done':
      return change(items, at, (old) => setPart(old, 'summary', event))
    case 'response.completed': {
      const output = isObject(response) ? response['output'] : null
      if (!Array.isArray(output) || (version === '0.12' && output.length === 0)) return items
      return (output as readonly Json[]).filter(isObject)
    }
  }
  const [, kind = '', ending] = String(type).split('.')
  if (ending === 'delta') {
    return change(items, at, (old) => addText(old, kind, event))
  }
  return ending === 'done' ? change(items, at, (old) => setText(old, kind, event)) : items
}

/**
 * The items of a message that is continued, after all events. Until 0.11.3 the events are applied to the items
 * of the message, later only to those of the answer, and two messages at the seam become one.
 */
export function continueItems(
  version: OpenWebUiVersion,
  before: Items,
  events: readonly JsonObject[],
): Items {
  const apply = (items: Items, event: JsonObject) => reduceResponseEvent(version, event, items)
  if (version === '0.10') return events.reduce(apply, before)
  return joinAtSeam(before, events.reduce<Items>(apply, []))
}

export function joinAtSeam(before: Items, added: Items): Items {
  const last = before.at(-1)
  const [first, ...others] = added
  if (last?.['type'] !== 'message' || first?.['type'] !== 'message') return [...before, ...added]
  const content = [...partsOf(last, 'content'), ...partsOf(first, 'content')]
  return [...before.slice(0, -1), { ...last, ...first, id: last['id'] ?? null, content }, ...others]
}

function addItem(item: JsonObject, index: Json | undefined, items: Items): Items {
  const known = items.findIndex(
    ({ id, type, call_id: callId }) =>
      (item['id'] !== undefined && id === item['id']) ||
      (item['call_id'] !== undefined && type === item['type'] && callId === item['call_id']),
  )
  if (known >= 0) return items.with(known, item)
  return typeof index === 'number' ? items.toSpliced(index, 0, item) : [...items, item]
}

function change(items: Items, at: number, by: (item: JsonObject) => JsonObject): Items {
  const item = items[at]
  return item === undefined ? items : items.with(at, by(item))
}

type PartList = 'content' | 'summary'

export function partsOf(item: JsonObject, list: PartList): readonly JsonObject[] {
  const parts = item[list]
  return Array.isArray(parts) ? (parts as readonly Json[]).filter(isObject) : []
}

function addPart(item: JsonObject, list: PartList, part: Json | undefined): JsonObject {
  if (list === 'content' && item['type'] === 'reasoning') return item
  return { ...item, [list]: [...partsOf(item, list), part ?? {}] }
}

function setPart(item: JsonObject, list: PartList, event: JsonObject): JsonObject {
  const { part, content_index: ofContent, summary_index: ofSummary } = event
  const parts = partsOf(item, list)
  const index = list === 'content' ? ofContent : ofSummary
  const at = typeof index === 'number' ? index : parts.length - 1
  if (!isObject(part) || parts[at] === undefined) return item
  return { ...item, [list]: parts.with(at, part) }
}

/** The list and the index of the part that a text event changes; null if it changes no part. */
function partOf(item: JsonObject, kind: string, event: JsonObject): [PartList, number] | null {
  const isReasoning = item['type'] === 'reasoning'
  const index = kind === 'reasoning_summary_text' ? event['summary_index'] : event['content_index']
  const at = typeof index === 'number' ? index : 0
  if (kind === 'reasoning_summary_text') return isReasoning ? ['summary', at] : null
  if (kind === 'reasoning_text') return isReasoning ? ['content', at] : null
  if (kind === 'output_text') return item['type'] === 'message' ? ['content', at] : null
  return item['type'] === 'message' && kind === 'refusal' ? ['content', at] : null
}

function addText(item: JsonObject, kind: string, event: JsonObject): JsonObject {
  const delta = String(event['delta'])
  if (kind === 'function_call_arguments') {
    if (item['type'] !== 'function_call') return item
    return { ...item, arguments: textOf(item['arguments']) + delta }
  }
  const place = partOf(item, kind, event)
  if (place === null) {
    const isOther = item['type'] !== 'message' && item['type'] !== 'reasoning'
    return isOther ? { ...item, [kind]: textOf(item[kind]) + delta } : item
  }
  const [list, at] = place
  const parts = [...partsOf(item, list)]
  while (parts.length <= at) parts.push({ type: 'text', text: '' })
  const key = kind === 'refusal' ? 'refusal' : 'text'
  parts[at] = { ...parts[at], [key]: textOf(parts[at]?.[key]) + delta }
  return { ...item, [list]: parts }
}

function setText(item: JsonObject, kind: string, event: JsonObject): JsonObject {
  if (kind === 'function_call_arguments') {
    return item['type'] === 'function_call'
      ? { ...item, arguments: event['arguments'] ?? '' }
      : item
  }
  if (item['type'] === 'reasoning') return { ...item, status: 'completed' }
  const key = kind === 'output_text' ? 'text' : kind
  const at = typeof event['content_index'] === 'number' ? event['content_index'] : 0
  const part = partsOf(item, 'content')[at]
  if (item['type'] !== 'message' || part === undefined || event[key] === undefined) return item
  return {
    ...item,
    content: partsOf(item, 'content').with(at, { ...part, [key]: event[key] }),
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
