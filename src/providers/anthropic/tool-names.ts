/**
 * The names of tools on this wire. They consist of letters, digits, `_` and `-`; any other name is
 * changed the same way wherever it stands, and an answer is given the client's own name back.
 */
import type { Prompt, Tool } from '../../core/prompt.ts'
import { hashText } from './pack-thinking-block.ts'

const LAWFUL_NAME = /^[a-zA-Z0-9_-]{1,128}$/

export function encodeToolName(name: string): string {
  if (LAWFUL_NAME.test(name)) return name
  return `${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 100)}_${hashText(name)}`
}

export interface OriginalTool {
  readonly name: string
  readonly isCustom: boolean
}

/** What a name in an answer stands for, for the names that are not simply a function's. */
export function mapEncodedToolNames(prompt: Prompt | undefined): ReadonlyMap<string, OriginalTool> {
  const names = new Map<string, OriginalTool>()
  for (const tool of prompt?.params.tools ?? []) {
    if (tool.type === 'opaque') continue
    if (needsName(tool)) {
      names.set(encodeToolName(tool.name), { name: tool.name, isCustom: tool.type === 'custom' })
    }
  }
  return names
}

function needsName(tool: Exclude<Tool, { readonly type: 'opaque' }>): boolean {
  return tool.type === 'custom' || !LAWFUL_NAME.test(tool.name)
}
