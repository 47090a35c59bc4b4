/**
 * Parses one streamed fragment of a tool call: an entry of `tool_calls`, a custom tool call, or the
 * deprecated `function_call`.
 */
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { ToolCallFragment } from '../api-types.ts'

export interface ParsedCallFragment {
  /** The upstream's index and id of the call; null and `''` if the fragment has none. */
  readonly index: number | null
  readonly id: string
  readonly name: string
  readonly inputText: string
  readonly isCustom: boolean
  /** Google only: `extra_content` of the `tool_calls` entry, e.g. a thought signature. */
  readonly extraContent: JsonObject | null
}

export function parseCallFragment(fragment: ToolCallFragment): ParsedCallFragment {
  const { index, id, type, function: functionBody, custom, extra_content: extra } = fragment
  const isCustom = isObject(custom) || (type === 'custom' && !isObject(functionBody))
  const body: JsonObject = isObject(custom) ? custom : isObject(functionBody) ? functionBody : {}
  return {
    index: Number.isInteger(index) ? (index as number) : null,
    id: typeof id === 'number' ? String(id) : textOrEmpty(id),
    name: textOrEmpty(body['name']),
    inputText: readInput(isCustom ? body['input'] : body['arguments']),
    isCustom,
    extraContent: isObject(extra) ? extra : null,
  }
}

/** Reads the arguments. Some servers send them as an object instead of its JSON text. */
function readInput(value: Json | undefined): string {
  return isObject(value) ? JSON.stringify(value) : textOrEmpty(value)
}
