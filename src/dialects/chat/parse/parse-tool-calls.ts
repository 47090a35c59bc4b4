/** The calls that a message of the assistant makes. */
import type { FunctionCall, ToolCall } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  asList,
  asObject,
  asOneOf,
  asString,
  readOptional,
  createMissingFieldError,
} from '../../checks/check-json-types.ts'
import type { ToolCallRegistry } from './tool-call-registry.ts'
import { pickUnknownFields } from './pick-unknown-fields.ts'

export function parseToolCalls(
  message: JsonObject,
  path: string,
  book: ToolCallRegistry,
): readonly ToolCall[] {
  const list = readOptional(asList, message['tool_calls'], `${path}.tool_calls`) ?? []
  const calls = list.map((entry, place) => {
    const at = `${path}.tool_calls[${place}]`
    return parseCall(asObject(entry, at), at, book)
  })
  const legacy = readOptional(asObject, message['function_call'], `${path}.function_call`)
  if (legacy === null) return calls
  return [...calls, parseLegacy(legacy, `${path}.function_call`, book)]
}

function parseCall(entry: JsonObject, path: string, book: ToolCallRegistry): ToolCall {
  const givenId = asString(entry['id'], `${path}.id`)
  // Some clients leave it out, as some services do.
  const type = asOneOf(TYPES)(entry['type'] ?? 'function', `${path}.type`)
  const made = entry[type]
  if (made === undefined) throw createMissingFieldError(`${path}.${type}`)
  const body = asObject(made, `${path}.${type}`)
  const name = asString(body['name'], `${path}.${type}.name`)
  const call_id = book.made({ givenId, kind: type, name })
  const rest = pickUnknownFields(entry, ENTRY)
  const native = rest === null ? undefined : { native: { chat: { $entry: rest } } }
  if (type === 'custom') {
    const input = asString(body['input'], `${path}.custom.input`)
    return { type: 'custom_tool_call', call_id, name, input, ...native }
  }
  const text = asString(body['arguments'], `${path}.function.arguments`)
  return { type: 'function_call', call_id, name, arguments: text, ...native }
}

const TYPES = ['function', 'custom'] as const
// An index is what a client copied out of a stream.
const ENTRY = new Set(['id', 'type', 'function', 'custom', 'index'])

function parseLegacy(made: JsonObject, path: string, book: ToolCallRegistry): FunctionCall {
  const name = asString(made['name'], `${path}.name`)
  const text = asString(made['arguments'], `${path}.arguments`)
  const call_id = book.made({ givenId: '', kind: 'legacy', name })
  const native = { chat: { $legacy: true } }
  return { type: 'function_call', call_id, name, arguments: text, native }
}
