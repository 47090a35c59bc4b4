/**
 * Encodes the requested format of the answer. Newer models accept a JSON schema. Older models are
 * forced to call a tool with that schema; the decoder converts the call to text, so that the client
 * receives the JSON as text in both cases.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import type { EncodingContext } from './encoding-context.ts'
import { mergeRootAlternatives } from './merge-root-alternatives.ts'
import { simplifyOutputSchema } from './simplify-json-schema.ts'

export const ANSWER_TOOL = 'backstory_json_answer'

/** The three ways to make a model answer with JSON. At most one of the fields is set. */
export interface StructuredOutput {
  /** The value of `output_config.format`, for a model that accepts a schema. */
  readonly format: JsonObject | null
  /** The tool that the model is forced to call, for a model that accepts no schema. */
  readonly tool: JsonObject | null
  /**
   * A sentence that requests JSON, for the end of the system prompt, if the client sent no schema.
   */
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
  const { schema, droppedKeywords } = simplifyOutputSchema(format.schema)
  if (droppedKeywords.length > 0) {
    notes.write('schema-loosened', { field: 'text.format', detail: droppedKeywords.join(', ') })
  }
  return { ...PLAIN_TEXT, format: { type: 'json_schema', schema } }
}

const JSON_INSTRUCTION =
  'Answer with a single JSON object and nothing else: no other text, no Markdown, no code fence.'

function createAnswerTool(schema: JsonObject, description: string | null): JsonObject {
  return {
    name: ANSWER_TOOL,
    description: `Gives the final answer. ${description ?? ''}`.trim(),
    input_schema: mergeRootAlternatives(schema),
  }
}
