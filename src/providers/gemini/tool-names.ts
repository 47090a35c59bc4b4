/**
 * Names of functions. Gemini refuses some that OpenAI takes, and knows no tools with free text; so
 * an answer has to be told which of the client's tools a name stands for.
 */
import type { Prompt } from '../../core/prompt.ts'
import { hashText } from './fnv-hash.ts'

export interface OriginalTool {
  readonly name: string
  readonly isCustom: boolean
}

/** https://ai.google.dev/api/caching#FunctionDeclaration */
const LAWFUL = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/

export function encodeToolName(name: string): string {
  if (LAWFUL.test(name)) return name
  const plain = name.replaceAll(/[^a-zA-Z0-9_.:-]/g, '_').slice(0, 54)
  return `${/^[a-zA-Z_]/.test(plain) ? '' : '_'}${plain}_${hashText(name)}`
}

/** By the name on the wire, those that are not simply a function of that name. */
export function mapEncodedToolNames(prompt: Prompt | undefined): ReadonlyMap<string, OriginalTool> {
  const names = new Map<string, OriginalTool>()
  for (const tool of prompt?.params.tools ?? []) {
    if (tool.type === 'opaque') continue
    const { name } = tool
    const isCustom = tool.type === 'custom'
    if (isCustom || !LAWFUL.test(name)) names.set(encodeToolName(name), { name, isCustom })
  }
  return names
}
