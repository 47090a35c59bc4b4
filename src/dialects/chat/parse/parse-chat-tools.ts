/**
 * Parses the tools and the tool choice of a chat request. In this API, the name of a tool is
 * nested: `{ type: 'function', function: { name } }`.
 */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { FunctionTool, Tool, ToolChoice } from '../../../core/prompt.ts'
import {
  asBoolean,
  asList,
  asListOf,
  asObject,
  asOneOf,
  asString,
  readOptional,
  type JsonReader,
} from '../../checks/check-json-types.ts'
import { pickExtraToolFields } from '../../checks/pick-extra-tool-fields.ts'

export const parseChatTools: JsonReader<readonly Tool[]> = asListOf(parseTool)

/** Parses `functions`, the predecessor of `tools`. */
export const parseLegacyFunctions: JsonReader<readonly Tool[]> = asListOf((value, path) =>
  parseFunction(value, path),
)

function parseTool(value: unknown, path: string): Tool {
  const raw = asObject(value, path)
  const type = asString(raw['type'], `${path}.type`)
  if (type === 'function') return parseFunction(raw['function'], `${path}.function`, raw)
  if (type !== 'custom') return { type: 'opaque', raw }
  const custom = asObject(raw['custom'], `${path}.custom`)
  return {
    type: 'custom',
    name: asString(custom['name'], `${path}.custom.name`),
    description: readOptional(asString, custom['description'], `${path}.custom.description`),
    format: flattenGrammar(custom['format']),
    ...pickExtraToolFields(raw, custom),
  }
}

function parseFunction(value: unknown, path: string, outer: JsonObject = {}): FunctionTool {
  const tool = asObject(value, path)
  return {
    type: 'function',
    name: asString(tool['name'], `${path}.name`),
    description: readOptional(asString, tool['description'], `${path}.description`),
    parameters: readOptional(asObject, tool['parameters'], `${path}.parameters`),
    strict: readOptional(asBoolean, tool['strict'], `${path}.strict`) ?? false,
    ...pickExtraToolFields(outer, tool),
  }
}

/**
 * Flattens the nested grammar of Chat Completions: `{ type: 'grammar', grammar: { syntax, … } }` →
 * `{ type: 'grammar', syntax, … }`.
 */
function flattenGrammar(format: Json | undefined): Json {
  if (!isObject(format)) return format ?? null
  const { grammar, ...rest } = format
  return isObject(grammar) ? { ...rest, ...grammar } : format
}

export function parseChatToolChoice(value: unknown, path: string): ToolChoice {
  if (typeof value === 'string') return { type: asOneOf(['none', 'auto', 'required'])(value, path) }
  const choice = asObject(value, path)
  const type = asString(choice['type'], `${path}.type`)
  if (type === 'function' || type === 'custom') {
    return { type, name: readToolName(choice, type, path) }
  }
  if (type !== 'allowed_tools') return { type: 'opaque', raw: choice }
  return parseAllowedTools(choice, `${path}.allowed_tools`)
}

function readToolName(tool: JsonObject, type: 'function' | 'custom', path: string): string {
  return asString(asObject(tool[type], `${path}.${type}`)['name'], `${path}.${type}.name`)
}

/**
 * Parses `allowed_tools`, a list of tools among which the model may choose. If the list contains a
 * hosted tool, returns the choice unchanged, because a hosted tool has no name.
 */
function parseAllowedTools(choice: JsonObject, path: string): ToolChoice {
  const allowed = asObject(choice['allowed_tools'], path)
  const mode = asOneOf(['auto', 'required'])(allowed['mode'], `${path}.mode`)
  const names: string[] = []
  for (const [index, entry] of asList(allowed['tools'], `${path}.tools`).entries()) {
    const toolPath = `${path}.tools[${index}]`
    const tool = asObject(entry, toolPath)
    const type = asString(tool['type'], `${toolPath}.type`)
    if (type !== 'function' && type !== 'custom') return { type: 'opaque', raw: choice }
    names.push(readToolName(tool, type, toolPath))
  }
  return { type: 'allowed', mode, names }
}

/** Parses `function_call`: `none`, `auto`, or an object with the name of a function. */
export function parseLegacyFunctionChoice(value: unknown, path: string): ToolChoice {
  if (typeof value === 'string') return { type: asOneOf(['none', 'auto'])(value, path) }
  return { type: 'function', name: asString(asObject(value, path)['name'], `${path}.name`) }
}
