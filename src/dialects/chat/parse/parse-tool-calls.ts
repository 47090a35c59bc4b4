/** Parses the tool calls of an assistant message: `tool_calls`, and the legacy `function_call`. */
import type { FunctionCall, ToolCall } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  asListOf,
  asObject,
  asOneOf,
  asString,
  readOptional,
} from '../../checks/check-json-types.ts'
import type { ToolOutputMatcher } from './match-tool-outputs.ts'
import { pickUnknownFields } from './pick-unknown-fields.ts'

export function parseToolCalls(
  message: JsonObject,
  path: string,
  outputMatcher: ToolOutputMatcher,
): readonly ToolCall[] {
  const asCall = (entry: unknown, callPath: string) => parseToolCall(entry, callPath, outputMatcher)
  const calls = readOptional(asListOf(asCall), message['tool_calls'], `${path}.tool_calls`) ?? []
  const legacy = readOptional(asObject, message['function_call'], `${path}.function_call`)
  if (legacy === null) return calls
  return [...calls, parseLegacyCall(legacy, `${path}.function_call`, outputMatcher)]
}

function parseToolCall(value: unknown, path: string, outputMatcher: ToolOutputMatcher): ToolCall {
  const entry = asObject(value, path)
  const clientId = asString(entry['id'], `${path}.id`)
  // The type defaults to `function`, because some services omit it, and clients send the call back
  // without it.
  const type = asOneOf(['function', 'custom'])(entry['type'] ?? 'function', `${path}.type`)
  const call = asObject(entry[type], `${path}.${type}`)
  const name = asString(call['name'], `${path}.${type}.name`)
  const call_id = outputMatcher.registerCall({ clientId, kind: type, name })
  const rest = pickUnknownFields(entry, KNOWN_FIELDS)
  const native = rest === null ? undefined : { native: { chat: { $entry: rest } } }
  if (type === 'custom') {
    const input = asString(call['input'], `${path}.custom.input`)
    return { type: 'custom_tool_call', call_id, name, input, ...native }
  }
  const text = asString(call['arguments'], `${path}.function.arguments`)
  return { type: 'function_call', call_id, name, arguments: text, ...native }
}

// `index` is listed, although it is not used, so that it is not stored as an unknown field: clients
// copy it from the deltas of a stream.
const KNOWN_FIELDS = new Set(['id', 'type', 'function', 'custom', 'index'])

function parseLegacyCall(
  call: JsonObject,
  path: string,
  outputMatcher: ToolOutputMatcher,
): FunctionCall {
  const name = asString(call['name'], `${path}.name`)
  const text = asString(call['arguments'], `${path}.arguments`)
  const call_id = outputMatcher.registerCall({ clientId: '', kind: 'legacy', name })
  const native = { chat: { $legacy: true } }
  return { type: 'function_call', call_id, name, arguments: text, native }
}
