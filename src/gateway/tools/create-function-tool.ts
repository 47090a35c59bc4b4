/** Creates the definition of a gateway tool that a model is sent: a function with a JSON Schema. */
import type { JsonObject } from '../../core/json/json.ts'
import type { FunctionTool } from '../../core/prompt.ts'

interface FunctionToolFields {
  readonly name: string
  readonly description: string
  /** JSON Schema of each argument, by the name of the argument. */
  readonly properties: JsonObject
  readonly required: readonly string[]
}

export function createFunctionTool(fields: FunctionToolFields): FunctionTool {
  const { name, description, properties, required } = fields
  const parameters = { type: 'object', properties, required, additionalProperties: false }
  return { type: 'function', name, description, parameters, strict: false }
}
