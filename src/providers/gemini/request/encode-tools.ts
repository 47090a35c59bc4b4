/** The functions that the model may call, and how freely. */
import type { PromptParameters, Tool, ToolChoice } from '../../../core/prompt.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { EncodingContext } from './encoding-context.ts'
import { simplifySchema } from './simplify-json-schema.ts'
import { encodeToolName } from '../tool-names.ts'

export interface EncodedTools {
  /** Without any there is nothing to be sent. */
  readonly declarations: readonly JsonObject[]
  readonly toolConfig: JsonObject | null
}

export function encodeTools(params: PromptParameters, context: EncodingContext): EncodedTools {
  const { notebook } = context
  const all: Declaration[] = []
  params.tools.forEach((tool, at) => {
    const declaration = declare(tool, `tools[${at}]`, context)
    if (declaration !== null) all.push(declaration)
  })
  const { toolChoice, parallelToolCalls } = params
  if (params.tools.some((tool) => tool.type === 'function' && tool.strict)) {
    notebook.write('strict-not-enforced', { field: 'tools' })
  }
  if (parallelToolCalls === false && all.length > 0) {
    notebook.write('parallel-not-limited', { field: 'parallel_tool_calls' })
  }
  if (toolChoice === null) return { declarations: all, toolConfig: null }
  if (toolChoice.type === 'allowed' && toolChoice.mode === 'auto') {
    const some = all.filter(({ name }) => toolChoice.names.map(encodeToolName).includes(name))
    if (some.length < all.length) notebook.write('tools-narrowed', { field: 'tool_choice' })
    return { declarations: some, toolConfig: some.length === 0 ? null : mode('AUTO') }
  }
  const toolConfig = all.length === 0 ? null : choose(toolChoice, all)
  const isLost = toolConfig === null && toolChoice.type !== 'auto' && toolChoice.type !== 'none'
  if (isLost) notebook.write('tool-choice-dropped', { field: 'tool_choice' })
  return { declarations: all, toolConfig }
}

/** A name that is not offered would fail the request. */
function choose(choice: ToolChoice, offered: readonly Declaration[]): JsonObject | null {
  switch (choice.type) {
    case 'auto':
      return mode('AUTO')
    case 'none':
      return mode('NONE')
    case 'required':
      return mode('ANY')
    case 'function':
    case 'custom':
    case 'allowed': {
      const wanted = (choice.type === 'allowed' ? choice.names : [choice.name]).map(encodeToolName)
      const names = wanted.filter((name) => offered.some((tool) => tool.name === name))
      return names.length === 0 ? null : mode('ANY', names)
    }
    case 'opaque':
      return null
  }
}

function mode(mode: 'AUTO' | 'ANY' | 'NONE', names?: readonly string[]): JsonObject {
  const allowed = names === undefined ? {} : { allowedFunctionNames: names }
  return { functionCallingConfig: { mode, ...allowed } }
}

type Declaration = JsonObject & { readonly name: string }

function declare(tool: Tool, field: string, context: EncodingContext): Declaration | null {
  if (tool.type !== 'opaque' && encodeToolName(tool.name) !== tool.name) {
    context.notebook.write('tool-name-changed', { field })
  }
  switch (tool.type) {
    case 'function': {
      const { description, parameters } = tool
      return {
        name: encodeToolName(tool.name),
        ...(description === null ? {} : { description }),
        ...parametersOf(parameters, `${field}.parameters`, context),
      }
    }
    case 'custom':
      context.notebook.write('custom-tool', { field })
      return {
        name: encodeToolName(tool.name),
        description: [tool.description, grammarOf(tool.format)].filter((text) => text).join('\n\n'),
        parameters: INPUT,
      }
    case 'opaque': {
      const type = tool.raw['type']
      context.notebook.write('hosted-tool', { field, detail: typeof type === 'string' ? type : '' })
      return null
    }
  }
}

const INPUT: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
}

function parametersOf(
  schema: JsonObject | null,
  field: string,
  context: EncodingContext,
): JsonObject {
  const properties = schema?.['properties']
  const isEmpty = isObject(properties) && Object.keys(properties).length === 0
  // An object without fields is refused.
  if (schema === null || Object.keys(schema).length === 0 || isEmpty) return {}
  if (context.quirks.jsonSchema) return { parametersJsonSchema: schema }
  const { schema: parameters, dropped } = simplifySchema(schema)
  if (dropped.length > 0) {
    context.notebook.write('schema-simplified', { field, detail: dropped.join(', ') })
  }
  return { parameters }
}

/** The grammar of a tool's input can only be told to the model. */
function grammarOf(format: Json): string | null {
  if (!isObject(format)) return null
  // Chat Completions has the grammar one level deeper.
  const grammar = isObject(format['grammar']) ? format['grammar'] : format
  const { definition } = grammar
  return typeof definition === 'string' ? `The input follows this grammar:\n${definition}` : null
}
