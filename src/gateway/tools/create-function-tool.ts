/** Creates the definition of a gateway tool, as the model receives it. */
import type { JsonObject } from '../../core/json/json.ts'
import type { FunctionTool } from '../../core/prompt.ts'

interface FunctionToolFields {
  readonly name: string
  readonly description: string
  /** The arguments, by name; each value is a JSON Schema. */
  readonly properties: JsonObject
  readonly required: readonly string[]
}

export function createFunctionTool(fields: FunctionToolFields): FunctionTool {
  const { name, description, properties, required } = fields
  const parameters = { type: 'object', properties, required, additionalProperties: false }
  return { type: 'function', name, description, parameters, strict: false }
}
