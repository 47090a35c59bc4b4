/**
 * Encodes tools and the tool choice in the nested form of Chat Completions: `{ type: 'function',
 * function: { name } }`.
 */
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { CustomTool, FunctionTool, PromptParameters, Tool } from '../../../core/prompt.ts'
import { hasGrammar, listExtraToolFields } from '../../request/list-extra-tool-fields.ts'
import type { ChatEncodingOptions, EncodingContext } from './encoding-context.ts'
import { WRAPPED_INPUT_SCHEMA } from '../../wrap-custom-tool-input.ts'

type ToolParameters = Pick<PromptParameters, 'tools' | 'toolChoice'>

/** Encodes the tools; returns undefined if there are none to send. */
export function encodeTools(
  params: ToolParameters,
  encoding: EncodingContext,
): readonly Json[] | undefined {
  const tools = selectOfferedTools(params, encoding)
    .map((tool) => encodeTool(tool, `tools[${params.tools.indexOf(tool)}]`, encoding))
    .filter((tool) => tool !== undefined)
  return tools.length > 0 ? tools : undefined
}

export function encodeToolChoice(
  { toolChoice }: ToolParameters,
  { options, notes }: EncodingContext,
): Json | undefined {
  if (toolChoice === null) return undefined
  switch (toolChoice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return toolChoice.type
    case 'function':
      return { type: 'function', function: { name: toolChoice.name } }
    case 'custom': {
      const type = options.customTools ? 'custom' : 'function'
      return { type, [type]: { name: toolChoice.name } }
    }
    case 'allowed': {
      const { mode, names } = toolChoice
      if (!options.allowedTools) return mode
      const tools = names.map((name) => ({ type: 'function', function: { name } }))
      return { type: 'allowed_tools', allowed_tools: { mode, tools } }
    }
    case 'opaque':
      if (options.isChatClient) return toolChoice.raw
      notes.write('tool-choice-unsupported', { field: 'tool_choice' })
  }
  return undefined
}

/**
 * Returns the names of the custom tools that are sent as functions (`wrap-custom-tool-input.ts`).
 */
export function listWrappedToolNames(
  tools: readonly Tool[],
  customTools: boolean,
): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.type === 'custom' && !customTools ? tool.name : [])))
}

/**
 * Selects the tools to send. If the tool choice allows only some tools, but the upstream does not
 * support `allowed_tools`, only those are sent.
 */
function selectOfferedTools(
  { tools, toolChoice }: ToolParameters,
  { options, notes }: EncodingContext,
): readonly Tool[] {
  if (toolChoice?.type !== 'allowed' || options.allowedTools) return tools
  const allowed = tools.filter(
    (tool) => tool.type !== 'opaque' && toolChoice.names.includes(tool.name),
  )
  if (allowed.length < tools.length) notes.write('allowed-tools-filtered', { field: 'tools' })
  return allowed
}

function encodeTool(
  tool: Tool,
  field: string,
  { options, notes }: EncodingContext,
): JsonObject | undefined {
  const isWrapped = tool.type === 'custom' && !options.customTools
  const clientTool = isWrapped ? undefined : options.findClientTool(tool)
  if (clientTool !== undefined) return clientTool
  if (!options.isChatClient || isWrapped) {
    for (const extraField of listExtraToolFields(tool, field))
      notes.write('tool-field-unsupported', { field: extraField })
  }
  switch (tool.type) {
    case 'function':
      return { type: 'function', function: encodeFunction(tool, options) }
    case 'custom':
      if (options.customTools) return { type: 'custom', custom: encodeCustom(tool, options) }
      notes.write('custom-tool-as-function', { field, detail: tool.name })
      if (hasGrammar(tool)) notes.write('grammar-not-enforced', { field: `${field}.format` })
      return { type: 'function', function: wrapCustomTool(tool) }
    case 'opaque':
      if (options.isChatClient) return tool.raw
      notes.write('hosted-tool', { field, detail: textOrEmpty(tool.raw['type']) })
  }
  return undefined
}

/**
 * Encodes a function. Leaves out `strict: false`, because it is the default and many services
 * reject the field.
 */
function encodeFunction(
  { name, description, parameters, strict, extra }: FunctionTool,
  { isChatClient }: ChatEncodingOptions,
): JsonObject {
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(parameters === null ? {} : { parameters }),
    ...(strict ? { strict } : {}),
    ...(isChatClient ? extra : {}),
  }
}

function encodeCustom(
  { name, description, format, extra }: CustomTool,
  { isChatClient }: ChatEncodingOptions,
): JsonObject {
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(format === null ? {} : { format: nestFormat(format) }),
    ...(isChatClient ? extra : {}),
  }
}

function nestFormat(format: Json): Json {
  if (!isObject(format) || format['type'] !== 'grammar') return format
  const { type, definition, syntax, ...rest } = format
  return definition === undefined ? format : { ...rest, type, grammar: { definition, syntax } }
}

function wrapCustomTool({ name, description, format }: CustomTool): JsonObject {
  const grammar = isObject(format) && format['type'] === 'grammar' ? format : null
  const grammarText =
    grammar === null
      ? ''
      : `The input must follow this ${textOrEmpty(grammar['syntax'])} grammar:\n${textOrEmpty(grammar['definition'])}`
  const text = [description ?? '', grammarText].filter((line) => line !== '').join('\n\n')
  return { name, ...(text === '' ? {} : { description: text }), parameters: WRAPPED_INPUT_SCHEMA }
}
