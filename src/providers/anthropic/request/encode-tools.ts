/** The tools of a request, and which of them the model may or must call. */
import { textOrEmpty, type JsonObject } from '../../../core/json/json.ts'
import type {
  CustomTool,
  FunctionTool,
  OpaqueTool,
  PromptParameters,
  Tool,
  ToolChoice,
} from '../../../core/prompt.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { simplifyOutputSchema, simplifyToolSchema } from './simplify-json-schema.ts'
import { encodeToolName } from '../tool-names.ts'
import type { ModelTraits } from '../model-traits.ts'
import type { BlockEntry } from '../api-types.ts'

export interface EncodedTools {
  readonly tools: readonly JsonObject[]
  readonly choice: EncodedToolChoice | null
}

export interface EncodedToolChoice {
  readonly type: 'auto' | 'any' | 'tool' | 'none'
  readonly name?: string
  readonly disable_parallel_tool_use?: true
}

/** `answerTool` is the one that stands for structured output, which then has to be called. */
export function encodeTools(
  params: PromptParameters,
  answerTool: JsonObject | null,
  traits: ModelTraits,
  notebook: NoteCollector,
): EncodedTools {
  const own = allowed(params, notebook).flatMap((tool) =>
    encodeTool(tool, `tools[${params.tools.indexOf(tool)}]`, traits, notebook),
  )
  if (!traits.strictTools && params.tools.some((tool) => tool.type === 'function' && tool.strict)) {
    notebook.write('strict-not-enforced', { field: 'tools' })
  }
  const choice = choiceOf(params, own.length > 0, notebook)
  if (answerTool === null) return { tools: own, choice }
  const isOnly = own.length === 0 || choice?.type === 'none'
  return {
    tools: [...own, answerTool],
    choice: {
      ...(isOnly ? { type: 'tool', name: textOrEmpty(answerTool['name']) } : { type: 'any' }),
      disable_parallel_tool_use: true,
    },
  }
}

function allowed(
  { tools, toolChoice }: PromptParameters,
  notebook: NoteCollector,
): readonly Tool[] {
  if (toolChoice?.type !== 'allowed') return tools
  const names = new Set(toolChoice.names)
  const offered = tools.filter((tool) => tool.type !== 'opaque' && names.has(tool.name))
  if (offered.length === tools.length) return tools
  notebook.write('allowed-tools-filtered', { field: 'tools' })
  return offered
}

function encodeTool(
  tool: Tool,
  field: string,
  traits: ModelTraits,
  notebook: NoteCollector,
): readonly JsonObject[] {
  switch (tool.type) {
    case 'function':
      return [functionTool(tool, field, traits, notebook)]
    case 'custom':
      return [customTool(tool, field, notebook)]
    case 'opaque':
      return hostedTool(tool, field, notebook)
  }
}

function functionTool(
  tool: FunctionTool,
  field: string,
  traits: ModelTraits,
  notebook: NoteCollector,
): JsonObject {
  const isStrict = traits.strictTools && tool.strict
  const rooted = simplifyToolSchema(tool.parameters)
  if (tool.parameters !== null && rooted !== tool.parameters) {
    notebook.write('tool-schema-changed', { field, detail: tool.name })
  }
  return {
    ...named(tool, field, notebook),
    input_schema: isStrict ? simplifyOutputSchema(rooted).schema : rooted,
    ...(isStrict ? { strict: true } : {}),
  }
}

function customTool(tool: CustomTool, field: string, notebook: NoteCollector): JsonObject {
  notebook.write('custom-tool-as-function', { field, detail: tool.name })
  return {
    ...named(tool, field, notebook),
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

function named(
  { name, description }: FunctionTool | CustomTool,
  field: string,
  notebook: NoteCollector,
): JsonObject {
  const lawful = encodeToolName(name)
  if (lawful !== name) notebook.write('tool-name-changed', { field, detail: name })
  return { name: lawful, ...(description ? { description } : {}) }
}

/** The provider's own tools carry the date of their version: `web_search_20250305`. */
const OWN_TOOL = /_20\d{6}$/

function hostedTool(
  { raw }: OpaqueTool,
  field: string,
  notebook: NoteCollector,
): readonly JsonObject[] {
  const type = textOrEmpty(raw['type'])
  if (OWN_TOOL.test(type)) return [raw]
  notebook.write('hosted-tool', { field, detail: type })
  return []
}

function choiceOf(
  params: PromptParameters,
  hasTools: boolean,
  notebook: NoteCollector,
): EncodedToolChoice | null {
  const { toolChoice, parallelToolCalls } = params
  if (!hasTools) {
    if (toolChoice !== null && toolChoice.type !== 'auto' && toolChoice.type !== 'none') {
      notebook.write('tool-choice-without-tools', { field: 'tool_choice' })
    }
    return null
  }
  const choice = wanted(toolChoice, notebook)
  if (parallelToolCalls !== false || choice?.type === 'none') return choice
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true }
}

function wanted(choice: ToolChoice | null, notebook: NoteCollector): EncodedToolChoice | null {
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
      notebook.write('hosted-tool', { field: 'tool_choice' })
      return null
  }
}

/**
 * A conversation with tool calls is refused when the request defines no tools. Tasks like a title or
 * a summary come without: the tools of the history are then defined and forbidden.
 */
export function addStubTools(
  { tools, choice }: EncodedTools,
  entries: readonly BlockEntry[],
  notebook: NoteCollector,
): EncodedTools {
  if (tools.length > 0) return { tools, choice }
  const names = new Set<string>()
  for (const { block } of entries) {
    if (block['type'] === 'tool_use' && typeof block['name'] === 'string') names.add(block['name'])
  }
  if (names.size === 0) return { tools, choice }
  notebook.write('tools-stubbed', { field: 'tools' })
  return { tools: [...names].map(stub), choice: { type: 'none' } }
}

function stub(name: string): JsonObject {
  return {
    name,
    description: 'Used earlier in this conversation; not available now.',
    input_schema: { type: 'object', properties: {} },
  }
}
