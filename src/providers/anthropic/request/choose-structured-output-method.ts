/**
 * Chooses how the model is made to answer with JSON. Newer models accept the schema itself. An
 * older model gets a tool with that schema and is forced to call it. The decoder recognizes the
 * tool by its name and converts the call to text, so the client sees no difference.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import type { EncodingContext } from './encoding-context.ts'
import { simplifyOutputSchema, simplifyToolSchema } from './simplify-json-schema.ts'

export const ANSWER_TOOL = 'backstory_json_answer'

/** The means by which the model is made to answer with JSON. At most one field is set. */
export interface StructuredOutputMethod {
  /** The value of `output_config.format`, if the model accepts a schema. */
  readonly format: JsonObject | null
  /** A tool with the schema, which the model is forced to call. */
  readonly tool: JsonObject | null
  /** A sentence for the end of the system prompt, if the client sent no schema. */
  readonly instruction: string | null
}

const PLAIN_TEXT: StructuredOutputMethod = { format: null, tool: null, instruction: null }

export function chooseStructuredOutputMethod(
  { format }: PromptParameters,
  { traits, notes }: EncodingContext,
): StructuredOutputMethod {
  if (format === null || format.type === 'text') return PLAIN_TEXT
  if (format.type !== 'json_schema') {
    notes.write('json-object-as-instruction', { field: 'text.format' })
    return { ...PLAIN_TEXT, instruction: JSON_INSTRUCTION }
  }
  if (traits.structuredOutput === 'tool') {
    notes.write('format-as-tool', { field: 'text.format' })
    return { ...PLAIN_TEXT, tool: createAnswerTool(format.schema, format.description) }
  }
  const { schema, lost } = simplifyOutputSchema(format.schema)
  if (lost.length > 0) {
    notes.write('schema-loosened', { field: 'text.format', detail: lost.join(', ') })
  }
  return { ...PLAIN_TEXT, format: { type: 'json_schema', schema } }
}

const JSON_INSTRUCTION =
  'Answer with a single JSON object and nothing else: no other text, no Markdown, no code fence.'

function createAnswerTool(schema: JsonObject, description: string | null): JsonObject {
  return {
    name: ANSWER_TOOL,
    description: `Gives the final answer. ${description ?? ''}`.trim(),
    input_schema: simplifyToolSchema(schema),
  }
}
