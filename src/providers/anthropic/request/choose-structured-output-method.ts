/**
 * How the model is made to answer with JSON. Newer models take the schema itself. An older one is
 * given a tool with that schema and has to call it; the decoder knows the tool by its name and turns
 * the call back into text, so that a client sees no difference.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { simplifyOutputSchema, simplifyToolSchema } from './simplify-json-schema.ts'
import type { ModelTraits } from '../model-traits.ts'

export const ANSWER_TOOL = 'backstory_json_answer'

export interface StructuredOutput {
  /** For `output_config.format`. */
  readonly format: JsonObject | null
  readonly tool: JsonObject | null
  /** For the end of the system prompt. */
  readonly instruction: string | null
}

const NONE: StructuredOutput = { format: null, tool: null, instruction: null }

export function encodeStructuredOutput(
  { format }: PromptParameters,
  traits: ModelTraits,
  notebook: NoteCollector,
): StructuredOutput {
  if (format === null || format.type === 'text') return NONE
  if (format.type !== 'json_schema') {
    notebook.write('json-object-as-instruction', { field: 'text.format' })
    return { ...NONE, instruction: JSON_ONLY }
  }
  if (traits.structuredOutput === 'tool') {
    notebook.write('format-as-tool', { field: 'text.format' })
    return { ...NONE, tool: answerTool(format.schema, format.description) }
  }
  const { schema, lost } = simplifyOutputSchema(format.schema)
  if (lost.length > 0) {
    notebook.write('schema-loosened', { field: 'text.format', detail: lost.join(', ') })
  }
  return { ...NONE, format: { type: 'json_schema', schema } }
}

const JSON_ONLY =
  'Answer with a single JSON object and nothing else: no other text, no Markdown, no code fence.'

function answerTool(schema: JsonObject, description: string | null): JsonObject {
  return {
    name: ANSWER_TOOL,
    description: `Gives the final answer. ${description ?? ''}`.trim(),
    input_schema: simplifyToolSchema(schema),
  }
}
