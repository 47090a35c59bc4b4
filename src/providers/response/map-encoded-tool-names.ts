/**
 * Maps tool names in an answer back to the client's tools, for wires that reject some names and
 * have no custom tools. The map contains only custom tools and tools with a changed name.
 */
import type { Prompt } from '../../core/prompt.ts'

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
