/**
 * Wraps the text input of a custom tool call as function arguments, e.g. `ls` → `{"input":"ls"}`,
 * for upstreams that have only function tools. Unwraps it in the answer.
 */
import type { JsonObject } from '../core/json/json.ts'
import { tryParseLimitedJsonObject } from '../core/json/limited-json.ts'

export function wrapCustomToolInput(input: string): string {
  return JSON.stringify({ input })
}

/**
 * Returns the text in the field `input`. Returns the complete arguments if the JSON is incomplete
 * or the model ignored the schema.
 */
export function unwrapCustomToolInput(argumentsText: string): string {
  const input = tryParseLimitedJsonObject(argumentsText)?.['input']
  return typeof input === 'string' ? input : argumentsText
}

/** The parameters of a custom tool that is sent as a function tool. */
export const WRAPPED_INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}
