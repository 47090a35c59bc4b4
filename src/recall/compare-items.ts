/**
 * Compares items that the gateway recorded with items that a client sends back. Ids, statuses and
 * origins are ignored, because most clients do not return them.
 */
import type { Item, Part } from '../core/item.ts'
import { isObject, tryParseJson } from '../core/json/json.ts'

/**
 * True if the client's item lacks nothing of the recorded item, so the client's item can be sent
 * upstream unchanged.
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
 * Returns an item's provider-specific fields except `backstory`, which only the gateway reads.
 * Returns `null` if the item has no other such field.
 */
function readClientVisibleFields({ native }: Item): object | null {
  if (native === undefined) return null
  const { backstory: _backstory, ...rest } = native
  return Object.keys(rest).length === 0 ? null : rest
}

/**
 * True if both items are calls of the same tool with the same arguments. Function arguments are
 * compared as JSON, because clients may reformat them. The caller has compared the call ids.
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
 * Lists the keys of a hosted tool's item, e.g. of a web search that the upstream ran: its id and
 * its content. Two items that share a key count as the same item, because a client may return an
 * item with changed fields or without its id.
 */
export function listHostedItemKeys(item: Item): readonly string[] {
  if (item.type !== 'opaque') return []
  const { id, type } = item.raw
  const content = `as ${serializeCanonically(removeMetadata(item.raw))}`
  return typeof id === 'string' ? [`id ${serializeCanonically(type)} ${id}`, content] : [content]
}

/**
 * Lists the keys of a reasoning item: its id and its encrypted content. Two reasoning items that
 * share a key count as the same item. Empty for other items.
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
  const [value, otherValue] = [tryParseJson(first || '{}'), tryParseJson(second || '{}')]
  return value !== null && isEqual(value, otherValue)
}

function removeMetadata(item: object): object {
  const { id: _id, status: _status, origin: _origin, native: _native, ...rest } = item as Fields
  return rest
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Removes empty `annotations` and `logprobs` from a text part. The Responses API always writes both
 * lists, Chat Completions only non-empty ones, and this difference must not count.
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
 * Serializes a value as JSON with sorted field names. Two values give the same text if `isEqual`
 * returns true for them: `{b: 1, a: 2}` → `{"a":2,"b":1}`.
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
