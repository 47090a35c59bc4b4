/** What one fragment says of a tool call, in whichever of the ways that services have for it. */
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { ToolCallFragment } from '../api-types.ts'

export interface ParsedCallFragment {
  /** The service's own number and id, as far as it gave any. */
  readonly number: number | null
  readonly id: string
  readonly name: string
  readonly text: string
  readonly isCustom: boolean
  /** Google's, which stands on the entry and not on the message. */
  readonly extra: JsonObject | null
}

export function parseCallFragment(fragment: ToolCallFragment): ParsedCallFragment {
  const { index, id, type, function: made, custom, extra_content: extra } = fragment
  const isCustom = isObject(custom) || (type === 'custom' && !isObject(made))
  const body: JsonObject = isObject(custom) ? custom : isObject(made) ? made : {}
  return {
    number: Number.isInteger(index) ? (index as number) : null,
    id: typeof id === 'number' ? String(id) : textOrEmpty(id),
    name: textOrEmpty(body['name']),
    text: inputIn(isCustom ? body['input'] : body['arguments']),
    isCustom,
    extra: isObject(extra) ? extra : null,
  }
}

/** Some servers send the arguments as the object they are. */
function inputIn(value: Json | undefined): string {
  return isObject(value) ? JSON.stringify(value) : textOrEmpty(value)
}
