/** Encodes the tools of a request and its tool choice. */
import { textOrEmpty, type JsonObject } from '../../../core/json/json.ts'
import type {
  CustomTool,
  FunctionTool,
  OpaqueTool,
  PromptParameters,
  Tool,
  ToolChoice,
} from '../../../core/prompt.ts'
import type { BlockEntry } from '../api-types.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import { encodeToolName } from '../encode-tool-name.ts'
import type { EncodingContext } from './encoding-context.ts'
import { mergeRootAlternatives } from './merge-root-alternatives.ts'
import { hasGrammar, listExtraToolFields } from '../../request/list-extra-tool-fields.ts'
import { simplifyOutputSchema } from './simplify-json-schema.ts'

export interface EncodedTools {
  readonly tools: readonly JsonObject[]
  readonly choice: EncodedToolChoice | null
}

export interface EncodedToolChoice {
  readonly type: 'auto' | 'any' | 'tool' | 'none'
  readonly name?: string
  readonly disable_parallel_tool_use?: true
}

/**
 * Encodes the tools and the tool choice. If `answerTool`, the tool for structured output
 * (`encode-structured-output.ts`), is not `null`, the model is forced to call a tool.
 */
export function encodeTools(
  params: PromptParameters,
  answerTool: JsonObject | null,
  context: EncodingContext,
): EncodedTools {
  const { notes } = context
  const clientTools = filterAllowedTools(params, notes).flatMap((tool) =>
    encodeTool(tool, `tools[${params.tools.indexOf(tool)}]`, context),
  )
  const choice = encodeChoice(params, clientTools.length > 0, notes)
  if (answerTool === null) return { tools: clientTools, choice }
  const isOnly = clientTools.length === 0 || choice?.type === 'none'
  return {
    tools: [...clientTools, answerTool],
    choice: {
      ...(isOnly ? { type: 'tool', name: textOrEmpty(answerTool['name']) } : { type: 'any' }),
      disable_parallel_tool_use: true,
    },
  }
}

function filterAllowedTools(
  { tools, toolChoice }: PromptParameters,
  notes: AnthropicNotes,
): readonly Tool[] {
  if (toolChoice?.type !== 'allowed') return tools
  const names = new Set(toolChoice.names)
  const offered = tools.filter((tool) => tool.type !== 'opaque' && names.has(tool.name))
  if (offered.length === tools.length) return tools
  notes.write('allowed-tools-filtered', { field: 'tools' })
  return offered
}

function encodeTool(tool: Tool, field: string, context: EncodingContext): readonly JsonObject[] {
  for (const extraField of listExtraToolFields(tool, field))
    context.notes.write('tool-field-unsupported', { field: extraField })
  switch (tool.type) {
    case 'function':
      return [encodeFunctionTool(tool, field, context)]
    case 'custom':
      return [encodeCustomTool(tool, field, context.notes)]
    case 'opaque':
      return encodeHostedTool(tool, field, context.notes)
  }
}

function encodeFunctionTool(
  tool: FunctionTool,
  field: string,
  { traits, notes }: EncodingContext,
): JsonObject {
  const isStrict = traits.enforcesToolSchemas && tool.strict
  if (tool.strict && !isStrict) notes.write('strict-not-enforced', { field: `${field}.strict` })
  const schema = mergeRootAlternatives(tool.parameters)
  if (tool.parameters !== null && schema !== tool.parameters) {
    notes.write('tool-schema-changed', { field, detail: tool.name })
  }
  return {
    ...encodeName(tool, field, notes),
    input_schema: isStrict ? simplifyOutputSchema(schema).schema : schema,
    ...(isStrict ? { strict: true } : {}),
  }
}

function encodeCustomTool(tool: CustomTool, field: string, notes: AnthropicNotes): JsonObject {
  notes.write('custom-tool-as-function', { field, detail: tool.name })
  if (hasGrammar(tool)) notes.write('grammar-not-enforced', { field: `${field}.format` })
  return {
    ...encodeName(tool, field, notes),
    input_schema: {
      type: 'object',
      properties: {
        input: { type: 'string', description: 'The whole input of the tool, as text.' },
      },
      required: ['input'],
      additionalProperties: false,
    },
  }
}

function encodeName(
  { name, description }: FunctionTool | CustomTool,
  field: string,
  notes: AnthropicNotes,
): JsonObject {
  const encoded = encodeToolName(name)
  if (encoded !== name) notes.write('tool-name-changed', { field, detail: name })
  return { name: encoded, ...(description ? { description } : {}) }
}

/** Matches the version date in the types of Anthropic's own tools, e.g. `web_search_20250305`. */
const PROVIDER_TOOL_TYPE = /_20\d{6}$/

function encodeHostedTool(
  { raw }: OpaqueTool,
  field: string,
  notes: AnthropicNotes,
): readonly JsonObject[] {
  const type = textOrEmpty(raw['type'])
  if (PROVIDER_TOOL_TYPE.test(type)) return [raw]
  notes.write('hosted-tool', { field, detail: type })
  return []
}

function encodeChoice(
  params: PromptParameters,
  hasTools: boolean,
  notes: AnthropicNotes,
): EncodedToolChoice | null {
  const { toolChoice, parallelToolCalls } = params
  if (!hasTools) {
    if (toolChoice !== null && toolChoice.type !== 'auto' && toolChoice.type !== 'none') {
      notes.write('tool-choice-without-tools', { field: 'tool_choice' })
    }
    return null
  }
  const choice = mapToolChoice(toolChoice, notes)
  if (parallelToolCalls !== false || choice?.type === 'none') return choice
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function mapToolChoice(choice: ToolChoice | null, notes: AnthropicNotes): EncodedToolChoice | null {
  switch (choice?.type) {
    case undefined:
      return null
    case 'auto':
    case 'none':
      return { type: choice.type }
    case 'required':
      return { type: 'any' }
    case 'function':
    case 'custom':
      return { type: 'tool', name: encodeToolName(choice.name) }
    case 'allowed':
      return { type: choice.mode === 'required' ? 'any' : 'auto' }
    case 'opaque':
      notes.write('hosted-tool', { field: 'tool_choice' })
      return null
  }
}

/**
 * Defines the tools of earlier calls if a request offers no tools, e.g. a request for a title,
 * because the API rejects tool calls without definitions. The tool choice `none` prevents new
 * calls.
 */
export function addStubsIfNoTools(
  { tools, choice }: EncodedTools,
  entries: readonly BlockEntry[],
  notes: AnthropicNotes,
): EncodedTools {
  if (tools.length > 0) return { tools, choice }
  const names = new Set<string>()
  for (const { block } of entries) {
    if (block['type'] === 'tool_use' && typeof block['name'] === 'string') names.add(block['name'])
  }
  if (names.size === 0) return { tools, choice }
  notes.write('tools-stubbed', { field: 'tools' })
  return { tools: [...names].map(createStubTool), choice: { type: 'none' } }
}

function createStubTool(name: string): JsonObject {
  return {
    name,
    description: 'Used earlier in this conversation; not available now.',
    input_schema: { type: 'object', properties: {} },
  }
}
