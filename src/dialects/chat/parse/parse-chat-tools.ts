/** Tools, and the choice among them, out of chat's nested form. */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { FunctionTool, Tool, ToolChoice } from '../../../core/prompt.ts'
import {
  asBoolean,
  asList,
  asObject,
  asOneOf,
  asString,
  readOptional,
} from '../../checks/check-json-types.ts'

export function parseChatTools(value: unknown, path: string): readonly Tool[] {
  return asList(value, path).map((entry, place) => {
    const at = `${path}[${place}]`
    return parseTool(asObject(entry, at), at)
  })
}

/** `functions`, from before there were tools. */
export function parseLegacyFunctions(value: unknown, path: string): readonly Tool[] {
  return asList(value, path).map((entry, place) => parseFunction(entry, `${path}[${place}]`))
}

function parseTool(raw: JsonObject, path: string): Tool {
  const type = asString(raw['type'], `${path}.type`)
  if (type === 'function') return parseFunction(raw['function'], `${path}.function`)
  if (type !== 'custom') return { type: 'opaque', raw }
  const custom = asObject(raw['custom'], `${path}.custom`)
  return {
    type: 'custom',
    name: asString(custom['name'], `${path}.custom.name`),
    description: readOptional(asString, custom['description'], `${path}.custom.description`),
    format: flatFormat(custom['format']),
  }
}

function parseFunction(value: unknown, path: string): FunctionTool {
  const made = asObject(value, path)
  return {
    type: 'function',
    name: asString(made['name'], `${path}.name`),
    description: readOptional(asString, made['description'], `${path}.description`),
    parameters: readOptional(asObject, made['parameters'], `${path}.parameters`),
    strict: readOptional(asBoolean, made['strict'], `${path}.strict`) ?? false,
  }
}

/** Chat nests a grammar once more than the waist. */
function flatFormat(format: Json | undefined): Json {
  if (!isObject(format)) return format ?? null
  const { grammar, ...rest } = format
  return isObject(grammar) ? { ...rest, ...grammar } : format
}

export function parseChatToolChoice(value: unknown, path: string): ToolChoice {
  if (typeof value === 'string') return { type: asOneOf(WORDS)(value, path) }
  const choice = asObject(value, path)
  const type = asString(choice['type'], `${path}.type`)
  switch (type) {
    case 'function':
    case 'custom': {
      const chosen = asObject(choice[type], `${path}.${type}`)
      return { type, name: asString(chosen['name'], `${path}.${type}.name`) }
    }
    case 'allowed_tools':
      return parseAllowed(choice['allowed_tools'], `${path}.allowed_tools`) ?? opaque(choice)
    default:
      return opaque(choice)
  }
}

const WORDS = ['none', 'auto', 'required'] as const

function opaque(raw: JsonObject): ToolChoice {
  return { type: 'opaque', raw }
}

/** `null` if a tool is allowed that has no name, as hosted tools do not. */
function parseAllowed(value: unknown, path: string): ToolChoice | null {
  const allowed = asObject(value, path)
  const mode = asOneOf(['auto', 'required'] as const)(allowed['mode'], `${path}.mode`)
  const names: string[] = []
  for (const [place, entry] of asList(allowed['tools'], `${path}.tools`).entries()) {
    const at = `${path}.tools[${place}]`
    const tool = asObject(entry, at)
    const type = asString(tool['type'], `${at}.type`)
    if (type !== 'function' && type !== 'custom') return null
    names.push(asString(asObject(tool[type], `${at}.${type}`)['name'], `${at}.${type}.name`))
  }
  return { type: 'allowed', mode, names }
}

/** `function_call`: a word, or the name of the function. */
export function parseLegacyFunctionChoice(value: unknown, path: string): ToolChoice {
  if (typeof value === 'string') return { type: asOneOf(['none', 'auto'] as const)(value, path) }
  return { type: 'function', name: asString(asObject(value, path)['name'], `${path}.name`) }
}
