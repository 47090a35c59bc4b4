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
} from '../../checks/check-json-types.ts'

export function parseChatTools(value: unknown, path: string): readonly Tool[] {
  return asListOf(parseTool)(value, path)
}

/** Parses `functions`, the predecessor of `tools`. */
export function parseLegacyFunctions(value: unknown, path: string): readonly Tool[] {
  return asListOf(parseFunction)(value, path)
}

function parseTool(value: unknown, path: string): Tool {
  const raw = asObject(value, path)
  const type = asString(raw['type'], `${path}.type`)
  if (type === 'function') return parseFunction(raw['function'], `${path}.function`)
  if (type !== 'custom') return { type: 'opaque', raw }
  const custom = asObject(raw['custom'], `${path}.custom`)
  return {
    type: 'custom',
    name: asString(custom['name'], `${path}.custom.name`),
    description: readOptional(asString, custom['description'], `${path}.custom.description`),
    format: flattenGrammar(custom['format']),
  }
}

function parseFunction(value: unknown, path: string): FunctionTool {
  const tool = asObject(value, path)
  return {
    type: 'function',
    name: asString(tool['name'], `${path}.name`),
    description: readOptional(asString, tool['description'], `${path}.description`),
    parameters: readOptional(asObject, tool['parameters'], `${path}.parameters`),
    strict: readOptional(asBoolean, tool['strict'], `${path}.strict`) ?? false,
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
  switch (type) {
    case 'function':
    case 'custom': {
      const chosen = asObject(choice[type], `${path}.${type}`)
      return { type, name: asString(chosen['name'], `${path}.${type}.name`) }
    }
    case 'allowed_tools':
      return (
        parseAllowedTools(choice['allowed_tools'], `${path}.allowed_tools`) ?? opaqueChoice(choice)
      )
    default:
      return opaqueChoice(choice)
  }
}

function opaqueChoice(raw: JsonObject): ToolChoice {
  return { type: 'opaque', raw }
}

/**
 * Parses a choice with `allowed_tools`. Returns `null` if an allowed tool has no name, e.g. a
 * hosted tool.
 */
function parseAllowedTools(value: unknown, path: string): ToolChoice | null {
  const allowed = asObject(value, path)
  const mode = asOneOf(['auto', 'required'])(allowed['mode'], `${path}.mode`)
  const names: string[] = []
  for (const [index, entry] of asList(allowed['tools'], `${path}.tools`).entries()) {
    const toolPath = `${path}.tools[${index}]`
    const tool = asObject(entry, toolPath)
    const type = asString(tool['type'], `${toolPath}.type`)
    if (type !== 'function' && type !== 'custom') return null
    const named = asObject(tool[type], `${toolPath}.${type}`)
    names.push(asString(named['name'], `${toolPath}.${type}.name`))
  }
  return { type: 'allowed', mode, names }
}

/** Parses `function_call`: `none`, `auto`, or an object with the name of a function. */
export function parseLegacyFunctionChoice(value: unknown, path: string): ToolChoice {
  if (typeof value === 'string') return { type: asOneOf(['none', 'auto'])(value, path) }
  return { type: 'function', name: asString(asObject(value, path)['name'], `${path}.name`) }
}
