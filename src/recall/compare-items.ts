/**
 * Compares items that the gateway recorded with items that a client sends back, to recognize them.
 * Differences of ids, statuses and origins do not count, because most clients do not return these
 * fields.
 */
import type { Item, Part, Reasoning } from '../core/item.ts'
import { isObject } from '../core/json/json.ts'
import { tryParseLimitedJson } from '../core/json/limited-json.ts'

/**
 * True if the client's item has all content of the recorded item, so that the client's item can be
 * sent upstream unchanged.
 */
export function hasSameContent(recorded: Item, clientItem: Item): boolean {
  if (recorded === clientItem) return true
  const recordedFields = readClientVisibleFields(recorded)
  const clientFields = readClientVisibleFields(clientItem)
  if (recordedFields !== null && !isEqual(recordedFields, clientFields)) return false
  if (recorded.type === 'message')
    return (
      clientItem.type === 'message' &&
      recorded.role === clientItem.role &&
      recorded.phase === clientItem.phase &&
      isEqual(recorded.content.map(removeEmptyLists), clientItem.content.map(removeEmptyLists))
    )
  if (recorded.type === 'opaque')
    return (
      clientItem.type === 'opaque' &&
      isEqual(removeMetadata(recorded.raw), removeMetadata(clientItem.raw))
    )
  return isEqual(removeMetadata(recorded), removeMetadata(clientItem))
}

/**
 * True if the client's copy of recorded reasoning has nothing that differs from the recorded item.
 * The copy may lack its encrypted content, its signature and its text: a client whose answers are
 * stored receives them only on request. Raw reasoning may be in the summary, as it was shown.
 */
export function isUneditedReasoning(recorded: Reasoning, copy: Reasoning): boolean {
  const encrypted = copy.encrypted_content ?? ''
  const fields = readClientVisibleFields(copy)
  const text = readReasoningText(copy)
  return (
    (encrypted === '' || encrypted === recorded.encrypted_content) &&
    (fields === null || isEqual(fields, readClientVisibleFields(recorded))) &&
    (text === '' || text === readReasoningText(recorded))
  )
}

function readReasoningText({ summary, content = [] }: Reasoning): string {
  return [...summary, ...content].map(({ text }) => text).join('')
}

/**
 * Returns an item's provider-specific fields without `backstory`, which only the gateway uses.
 * Returns `null` if no other field remains.
 */
function readClientVisibleFields({ native }: Item): object | null {
  if (native === undefined) return null
  const { backstory: _backstory, ...rest } = native
  return Object.keys(rest).length === 0 ? null : rest
}

/**
 * True if both items are calls of the same tool with the same arguments. Function arguments are
 * compared as JSON, because clients may reformat them. Call ids are not compared here: both must be
 * equal already.
 */
export function isSameCall(recorded: Item, clientItem: Item): boolean {
  if (recorded.type === 'function_call' && clientItem.type === 'function_call')
    return recorded.name === clientItem.name && isSameJson(recorded.arguments, clientItem.arguments)
  if (recorded.type === 'custom_tool_call' && clientItem.type === 'custom_tool_call')
    return recorded.name === clientItem.name && recorded.input === clientItem.input
  return (
    recorded.type === 'opaque' &&
    clientItem.type === 'opaque' &&
    isEqual(removeMetadata(recorded.raw), removeMetadata(clientItem.raw))
  )
}

/**
 * Lists the keys by which an item of a hosted tool (one that the upstream runs, e.g. web search) is
 * recognized: its id and its content. A recorded and a client's item that share one key count as
 * the same item, because a client may return the item with changed fields or without its id. Empty
 * for other items.
 */
export function listHostedItemKeys(item: Item): readonly string[] {
  if (item.type !== 'opaque') return []
  const { id, type } = item.raw
  const content = `as ${serializeCanonically(removeMetadata(item.raw))}`
  return typeof id === 'string' ? [`id ${serializeCanonically(type)} ${id}`, content] : [content]
}

/**
 * Lists the keys by which a reasoning item is recognized: its id and its encrypted content. A
 * recorded and a client's item that share one key count as the same item. Empty for other items.
 */
export function listReasoningKeys(item: Item): readonly string[] {
  if (item.type !== 'reasoning') return []
  const encrypted = item.encrypted_content ?? ''
  return [
    ...(item.id === undefined ? [] : [`id ${item.id}`]),
    ...(encrypted === '' ? [] : [`sealed ${encrypted}`]),
  ]
}

function isSameJson(first: string, second: string): boolean {
  if (first === second) return true
  // Clients write empty arguments as `''` or as `'{}'`, so both count as `{}`.
  const [value, otherValue] = [first, second].map((text) => tryParseLimitedJson(text || '{}'))
  return value !== null && isEqual(value, otherValue)
}

function removeMetadata(item: object): object {
  const { id: _id, status: _status, origin: _origin, native: _native, ...rest } = item as Fields
  return rest
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Removes empty `annotations` and `logprobs` from a text part, so that both APIs' forms of it are
 * equal: the Responses API always writes both lists, Chat Completions only if they are not empty.
 */
function removeEmptyLists(part: Part): Part {
  if (part.type !== 'output_text' && part.type !== 'input_text') return part
  const { annotations, logprobs, ...rest } = part
  return {
    ...rest,
    ...(annotations === undefined || annotations.length === 0 ? {} : { annotations }),
    ...(logprobs === undefined || logprobs.length === 0 ? {} : { logprobs }),
  }
}

/**
 * True if both values are equal as JSON. The order of fields does not count, and an undefined field
 * equals a missing one: `{a: 1, b: undefined}` equals `{a: 1}`.
 */
function isEqual(first: unknown, second: unknown): boolean {
  if (first === second) return true
  if (Array.isArray(first)) {
    return (
      Array.isArray(second) &&
      first.length === second.length &&
      first.every((value, index) => isEqual(value, second[index]))
    )
  }
  if (!isObject(first) || !isObject(second)) return false
  const firstNames = Object.keys(first).filter((name) => first[name] !== undefined)
  const secondNames = Object.keys(second).filter((name) => second[name] !== undefined)
  return (
    firstNames.length === secondNames.length &&
    firstNames.every((name) => Object.hasOwn(second, name) && isEqual(first[name], second[name]))
  )
}

/**
 * Serializes a value as JSON with sorted field names, so that values which are equal for `isEqual`
 * give the same text: `{b: 1, a: 2}` → `{"a":2,"b":1}`.
 */
function serializeCanonically(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(serializeCanonically).join()}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const firstNames = Object.keys(value).filter((name) => value[name] !== undefined)
  return `{${firstNames
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${serializeCanonically(value[name])}`)
    .join()}}`
}
