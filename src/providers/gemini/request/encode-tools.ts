/** Encodes the tools of a request as function declarations, and its tool choice. */
import type { PromptParameters, Tool, ToolChoice } from '../../../core/prompt.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { EncodingContext } from './encoding-context.ts'
import { hasGrammar, listExtraToolFields } from '../../request/list-extra-tool-fields.ts'
import { simplifyJsonSchema } from './simplify-json-schema.ts'
import { encodeToolName } from '../encode-tool-name.ts'

export interface EncodedTools {
  /** The function declarations. If there are none, the request has no `tools`. */
  readonly declarations: readonly JsonObject[]
  readonly toolConfig: JsonObject | null
}

export function encodeTools(params: PromptParameters, context: EncodingContext): EncodedTools {
  const { notes } = context
  const all = params.tools
    .map((tool, index) => encodeDeclaration(tool, `tools[${index}]`, context))
    .filter((declaration) => declaration !== null)
  const { toolChoice, parallelToolCalls } = params
  if (parallelToolCalls === false && all.length > 0) {
    notes.write('parallel-not-limited', { field: 'parallel_tool_calls' })
  }
  if (toolChoice === null) return { declarations: all, toolConfig: null }
  if (toolChoice.type === 'allowed' && toolChoice.mode === 'auto') {
    const allowed = all.filter(({ name }) => toolChoice.names.map(encodeToolName).includes(name))
    if (allowed.length < all.length) notes.write('tools-narrowed', { field: 'tool_choice' })
    const toolConfig = allowed.length === 0 ? null : createToolConfig('AUTO')
    return { declarations: allowed, toolConfig }
  }
  const toolConfig = all.length === 0 ? null : encodeChoice(toolChoice, all)
  const isChoiceLost =
    toolConfig === null && toolChoice.type !== 'auto' && toolChoice.type !== 'none'
  if (isChoiceLost) notes.write('tool-choice-dropped', { field: 'tool_choice' })
  return { declarations: all, toolConfig }
}

/**
 * Encodes the tool choice. Leaves out functions that the request does not offer, because Gemini
 * rejects their names.
 */
function encodeChoice(choice: ToolChoice, offered: readonly Declaration[]): JsonObject | null {
  switch (choice.type) {
    case 'auto':
      return createToolConfig('AUTO')
    case 'none':
      return createToolConfig('NONE')
    case 'required':
      return createToolConfig('ANY')
    case 'function':
    case 'custom':
    case 'allowed': {
      const requested = (choice.type === 'allowed' ? choice.names : [choice.name]).map(
        encodeToolName,
      )
      const names = requested.filter((name) => offered.some((tool) => tool.name === name))
      return names.length === 0 ? null : createToolConfig('ANY', names)
    }
    case 'opaque':
      return null
  }
}

function createToolConfig(mode: 'AUTO' | 'ANY' | 'NONE', names?: readonly string[]): JsonObject {
  const allowed = names === undefined ? {} : { allowedFunctionNames: names }
  return { functionCallingConfig: { mode, ...allowed } }
}

type Declaration = JsonObject & { readonly name: string }

function encodeDeclaration(
  tool: Tool,
  field: string,
  context: EncodingContext,
): Declaration | null {
  const { notes } = context
  if (tool.type === 'opaque') {
    notes.write('hosted-tool', { field, detail: textOrEmpty(tool.raw['type']) })
    return null
  }
  for (const extraField of listExtraToolFields(tool, field))
    notes.write('tool-field-unsupported', { field: extraField })
  const name = encodeToolName(tool.name)
  if (name !== tool.name) notes.write('tool-name-changed', { field })
  if (tool.type === 'function') {
    if (tool.strict) notes.write('strict-not-enforced', { field: `${field}.strict` })
    const description = tool.description === null ? {} : { description: tool.description }
    const parameters = encodeSchema(tool.parameters, `${field}.parameters`, context)
    return { name, ...description, ...parameters }
  }
  notes.write('custom-tool', { field })
  if (hasGrammar(tool)) notes.write('grammar-not-enforced', { field: `${field}.format` })
  const lines = [tool.description, describeGrammar(tool.format)].filter((text) => text)
  return { name, description: lines.join('\n\n'), parameters: CUSTOM_TOOL_PARAMETERS }
}

const CUSTOM_TOOL_PARAMETERS: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
}

function encodeSchema(
  schema: JsonObject | null,
  field: string,
  context: EncodingContext,
): JsonObject {
  const properties = schema?.['properties']
  const isEmpty = isObject(properties) && Object.keys(properties).length === 0
  // Gemini rejects an object schema without properties, so none is sent.
  if (schema === null || Object.keys(schema).length === 0 || isEmpty) return {}
  if (context.quirks.jsonSchema) return { parametersJsonSchema: schema }
  const { schema: parameters, droppedKeywords } = simplifyJsonSchema(schema)
  if (droppedKeywords.length > 0) {
    context.notes.write('schema-simplified', { field, detail: droppedKeywords.join(', ') })
  }
  return { parameters }
}

/**
 * Describes the grammar of a custom tool as text for the model, because Gemini cannot enforce a
 * grammar.
 */
function describeGrammar(format: Json): string | null {
  if (!isObject(format)) return null
  // A Chat Completions client sends `grammar.definition`, a Responses client `definition`.
  const grammar = isObject(format['grammar']) ? format['grammar'] : format
  const { definition } = grammar
  return typeof definition === 'string' ? `The input follows this grammar:\n${definition}` : null
}
