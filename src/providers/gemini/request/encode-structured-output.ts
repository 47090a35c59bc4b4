/** Encodes the requested format of the answer: plain text, any JSON, or JSON with a schema. */
import type { JsonObject } from '../../../core/json/json.ts'
import type { OutputFormat } from '../../../core/prompt.ts'
import type { EncodingContext } from './encoding-context.ts'
import { simplifyJsonSchema } from './simplify-json-schema.ts'

export interface StructuredOutput {
  readonly generationConfig: JsonObject
  /**
   * A sentence that requests JSON, for the end of the system prompt, if the model cannot combine
   * structured output with tools.
   */
  readonly instruction: string | null
}

const PLAIN_TEXT: StructuredOutput = { generationConfig: {}, instruction: null }

export function encodeStructuredOutput(
  format: OutputFormat | null,
  hasTools: boolean,
  context: EncodingContext,
): StructuredOutput {
  if (format === null || format.type === 'text') return PLAIN_TEXT
  const schema = format.type === 'json_schema' ? format.schema : null
  const { model, notes, quirks } = context
  if (hasTools && model.generation !== null && !model.isGeneration3OrLater) {
    notes.write('format-with-tools', { field: 'text.format' })
    return { generationConfig: {}, instruction: describeFormat(schema) }
  }
  const config = { responseMimeType: 'application/json' }
  if (schema === null) return { generationConfig: config, instruction: null }
  if (quirks.jsonSchema) {
    return { generationConfig: { ...config, responseJsonSchema: schema }, instruction: null }
  }
  const { schema: responseSchema, droppedKeywords } = simplifyJsonSchema(schema, true)
  if (droppedKeywords.length > 0) {
    notes.write('schema-simplified', { field: 'text.format', detail: droppedKeywords.join(', ') })
  }
  return { generationConfig: { ...config, responseSchema }, instruction: null }
}

function describeFormat(schema: JsonObject | null): string {
  const rule = 'Give your final answer as JSON only, without a code fence.'
  return schema === null ? rule : `${rule} It follows this JSON Schema:\n${JSON.stringify(schema)}`
}
