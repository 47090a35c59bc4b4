/**
 * Lists the paths of the fields of a tool that the upstream's API does not have, e.g.
 * `tools[0].allowed_callers`. Fields with their default value are not listed.
 */
import { isObject } from '../../core/json/json.ts'
import type { Tool } from '../../core/prompt.ts'
import { isDefaultValue } from './is-default-value.ts'

/** `path`: the path of the tool, e.g. `tools[0]`. */
export function listExtraToolFields(tool: Tool, path: string): readonly string[] {
  if (tool.type === 'opaque') return []
  return Object.entries(tool.extra ?? {})
    .filter(([name, value]) => !isDefaultValue(name, value))
    .map(([name]) => `${path}.${name}`)
}

/** True if the input of a custom tool has to follow a grammar. */
export function hasGrammar(tool: Tool): boolean {
  if (tool.type !== 'custom') return false
  const { format } = tool
  return isObject(format) && format['type'] === 'grammar'
}
