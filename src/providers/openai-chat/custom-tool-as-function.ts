/**
 * A call with free text, disguised as a function with one string for an upstream that knows
 * nothing else. What goes out wrapped comes back unwrapped.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'

export function wrapInput(input: string): string {
  return JSON.stringify({ input })
}

/** The input; the arguments as they are, if the model did not keep to the form. */
export function unwrapInput(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text)
    const input = isObject(parsed) ? parsed['input'] : undefined
    return typeof input === 'string' ? input : text
  } catch {
    return text
  }
}

export const WRAPPED_INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}
