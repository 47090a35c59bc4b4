/** What one fragment says of a tool call, in whichever of the ways that services have for it. */
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { ToolCallFragment } from '../api-types.ts'

export interface ParsedCallFragment {
  /** The service's own number and id, as far as it gave any. */
  readonly index: number | null
  readonly id: string
  readonly name: string
  readonly inputText: string
  readonly isCustom: boolean
  /** Google's, which stands on the entry and not on the message. */
  readonly extraContent: JsonObject | null
}

export function parseCallFragment(fragment: ToolCallFragment): ParsedCallFragment {
  const { index, id, type, function: made, custom, extra_content: extra } = fragment
  const isCustom = isObject(custom) || (type === 'custom' && !isObject(made))
  const body: JsonObject = isObject(custom) ? custom : isObject(made) ? made : {}
  return {
    index: Number.isInteger(index) ? (index as number) : null,
    id: typeof id === 'number' ? String(id) : textOrEmpty(id),
    name: textOrEmpty(body['name']),
    inputText: readInput(isCustom ? body['input'] : body['arguments']),
    isCustom,
    extraContent: isObject(extra) ? extra : null,
  }
}

/** Some servers send the arguments as the object they are. */
function readInput(value: Json | undefined): string {
  return isObject(value) ? JSON.stringify(value) : textOrEmpty(value)
}
