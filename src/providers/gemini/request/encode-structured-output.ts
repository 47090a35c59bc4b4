/** Encodes the requested format of the answer: plain text, any JSON, or JSON with a schema. */
import type { JsonObject } from '../../../core/json/json.ts'
import type { OutputFormat } from '../../../core/prompt.ts'
import type { EncodingContext } from './encoding-context.ts'
import { simplifySchema } from './simplify-json-schema.ts'

export interface StructuredOutput {
  readonly config: JsonObject
  /**
   * A sentence for the system prompt that requests the format, if the model cannot combine
   * structured output with tools.
   */
  readonly instruction: string | null
}

const PLAIN_TEXT: StructuredOutput = { config: {}, instruction: null }

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
    return { config: {}, instruction: describeFormat(schema) }
  }
  const config = { responseMimeType: 'application/json' }
  if (schema === null) return { config, instruction: null }
  if (quirks.jsonSchema) {
    return { config: { ...config, responseJsonSchema: schema }, instruction: null }
  }
  const { schema: responseSchema, dropped } = simplifySchema(schema, true)
  if (dropped.length > 0) {
    notes.write('schema-simplified', { field: 'text.format', detail: dropped.join(', ') })
  }
  return { config: { ...config, responseSchema }, instruction: null }
}

function describeFormat(schema: JsonObject | null): string {
  const rule = 'Give your final answer as JSON only, without a code fence.'
  return schema === null ? rule : `${rule} It follows this JSON Schema:\n${JSON.stringify(schema)}`
}
