/** Encodes a tool choice in the format of the Responses API, for upstream requests and for the copy of it in an answer. */
import type { Json } from './json.ts'
import type { Tool, ToolChoice } from '../prompt.ts'

export function encodeResponsesToolChoice(choice: ToolChoice, tools: readonly Tool[]): Json {
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type
    case 'function':
    case 'custom':
      return { type: choice.type, name: choice.name }
    case 'allowed': {
      const custom = new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])))
      const { mode, names } = choice
      const allowed = names.map((name) => ({
        type: custom.has(name) ? 'custom' : 'function',
        name,
      }))
      return { type: 'allowed_tools', mode, tools: allowed }
    }
    case 'opaque':
      return choice.raw
  }
}
