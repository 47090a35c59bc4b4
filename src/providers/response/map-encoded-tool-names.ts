/**
 * Maps the names under which tools were sent to the client's tools, for upstreams that reject some
 * names and have no custom tools. Contains only custom tools and renamed tools, because the others
 * keep their names.
 */
import type { Prompt } from '../../core/prompt.ts'
import type { ToolCall } from '../../core/item.ts'

export interface OriginalTool {
  readonly name: string
  readonly isCustom: boolean
}

export function mapEncodedToolNames(
  prompt: Prompt | undefined,
  encodeToolName: (name: string) => string,
): ReadonlyMap<string, OriginalTool> {
  const names = new Map<string, OriginalTool>()
  for (const tool of prompt?.params.tools ?? []) {
    if (tool.type === 'opaque') continue
    const { name } = tool
    const isCustom = tool.type === 'custom'
    const encoded = encodeToolName(name)
    if (isCustom || encoded !== name) names.set(encoded, { name, isCustom })
  }
  return names
}

/** Creates a tool call. `text` is the JSON of the arguments, or the input of a custom tool. */
export function createToolCall(
  callId: string,
  { name, isCustom }: OriginalTool,
  text: string,
): ToolCall {
  return isCustom
    ? { type: 'custom_tool_call', call_id: callId, name, input: text }
    : { type: 'function_call', call_id: callId, name, arguments: text }
}
