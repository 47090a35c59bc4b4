/**
 * Chooses how the model is made to answer with JSON. Newer models accept the schema itself. An
 * older one gets a tool with that schema and is forced to call it; the decoder recognizes the tool
 * by its name and converts the call to text, so that a client sees no difference.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import type { EncodingContext } from './encoding-context.ts'
import { simplifyOutputSchema, simplifyToolSchema } from './simplify-json-schema.ts'

export const ANSWER_TOOL = 'backstory_json_answer'

export interface StructuredOutput {
  /** For `output_config.format`. */
  readonly format: JsonObject | null
  readonly tool: JsonObject | null
  /** For the end of the system prompt. */
  readonly instruction: string | null
}

const PLAIN_TEXT: StructuredOutput = { format: null, tool: null, instruction: null }

export function encodeStructuredOutput(
  { format }: PromptParameters,
  { traits, notes }: EncodingContext,
): StructuredOutput {
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
