/**
 * Whether what was recorded and what a client sends are the same thing said. Ids, states and
 * origins are not: most clients forget them.
 */
import type { Item, Part } from '../core/item.ts'
import { isObject, tryParseJson } from '../core/json/json.ts'

/** Whether nothing is lost if the client's item is sent instead of the recorded one. */
export function hasSameContent(recorded: Item, given: Item): boolean {
  if (recorded === given) return true
  const own = told(recorded)
  if (own !== null && !isEqual(own, told(given) ?? undefined)) return false
  if (recorded.type === 'message') {
    return (
      given.type === 'message' &&
      recorded.role === given.role &&
      recorded.phase === given.phase &&
      isEqual(recorded.content.map(bare), given.content.map(bare))
    )
  }
  if (recorded.type === 'opaque') {
    return given.type === 'opaque' && isEqual(nameless(recorded.raw), nameless(given.raw))
  }
  return isEqual(nameless(recorded), nameless(given))
}

/** What is said to the gateway alone is not said in the conversation. */
function told({ native }: Item): object | null {
  if (native === undefined) return null
  const { backstory: _backstory, ...rest } = native
  return Object.keys(rest).length === 0 ? null : rest
}

/** Whether two calls under one id are one call. Clients write the arguments anew. */
export function isSameCall(recorded: Item, given: Item): boolean {
  if (recorded.type === 'function_call') {
    return (
      given.type === 'function_call' &&
      recorded.name === given.name &&
      meansTheSame(recorded.arguments, given.arguments)
    )
  }
  if (recorded.type === 'custom_tool_call') {
    return (
      given.type === 'custom_tool_call' &&
      recorded.name === given.name &&
      recorded.input === given.input
    )
  }
  return (
    recorded.type === 'opaque' &&
    given.type === 'opaque' &&
    isEqual(nameless(recorded.raw), nameless(given.raw))
  )
}

/**
 * The names by which the item of a hosted tool is known; two that have one in common are the same
 * item. A client need not bring it back as it was, nor with its id.
 */
export function listHostedItemKeys(item: Item): readonly string[] {
  if (item.type !== 'opaque') return []
  const { id, type } = item.raw
  const content = `as ${written(nameless(item.raw))}`
  return typeof id === 'string' ? [`id ${written(type)} ${id}`, content] : [content]
}

/** The same for reasoning: by its id, or sealed by its maker. */
export function listReasoningKeys(item: Item): readonly string[] {
  if (item.type !== 'reasoning') return []
  const sealed = item.encrypted_content ?? ''
  return [
    ...(item.id === undefined ? [] : [`id ${item.id}`]),
    ...(sealed === '' ? [] : [`sealed ${sealed}`]),
  ]
}

function meansTheSame(one: string, other: string): boolean {
  if (one === other) return true
  // No arguments are written in two ways.
  const [value, otherValue] = [tryParseJson(one || '{}'), tryParseJson(other || '{}')]
  return value !== null && isEqual(value, otherValue)
}

function nameless(item: object): object {
  const { id: _id, status: _status, origin: _origin, native: _native, ...rest } = item as Named
  return rest
}

interface Named {
  readonly id?: unknown
  readonly status?: unknown
  readonly origin?: unknown
  readonly native?: unknown
}

/** Without the lists that one wire always writes and another only when there is something in them. */
function bare(part: Part): Part {
  if (part.type !== 'output_text' && part.type !== 'input_text') return part
  const { annotations, logprobs, ...rest } = part
  return {
    ...rest,
    ...(annotations === undefined || annotations.length === 0 ? {} : { annotations }),
    ...(logprobs === undefined || logprobs.length === 0 ? {} : { logprobs }),
  }
}

/** Equal as JSON, whatever order the fields come in; a field without a value is not there. */
function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, at) => isEqual(value, other[at]))
    )
  }
  if (!isObject(one) || !isObject(other)) return false
  const fields = Object.keys(one).filter((name) => one[name] !== undefined)
  const others = Object.keys(other).filter((name) => other[name] !== undefined)
  return (
    fields.length === others.length &&
    fields.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]))
  )
}

/** As JSON that is the same wherever `isEqual` is true. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join()}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value).filter((name) => value[name] !== undefined)
  return `{${fields
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${written(value[name])}`)
    .join()}}`
}
