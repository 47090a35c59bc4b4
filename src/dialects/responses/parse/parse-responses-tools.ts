/** The tools that a request offers, and which of them the model may or must call. */
import type { JsonObject } from '../../../core/json/json.ts'
import type { Tool, ToolChoice } from '../../../core/prompt.ts'
import { isObject } from '../../../core/json/json.ts'
import {
  asBoolean,
  asList,
  asObject,
  asOneOf,
  asString,
  readOptional,
  createWrongTypeError,
} from '../../checks/check-json-types.ts'

export function parseResponsesTools(value: unknown, path: string): readonly Tool[] {
  return asList(value, path).map((tool, at) => parseTool(tool, `${path}[${at}]`))
}

function parseTool(value: unknown, path: string): Tool {
  const raw = asObject(value, path)
  const type = asString(raw['type'], `${path}.type`)
  if (type !== 'function' && type !== 'custom') return { type: 'opaque', raw }
  const name = asString(raw['name'], `${path}.name`)
  const description = readOptional(asString, raw['description'], `${path}.description`)
  if (type === 'custom') return { type, name, description, format: raw['format'] ?? null }
  return {
    type,
    name,
    description,
    parameters: readOptional(asObject, raw['parameters'], `${path}.parameters`),
    // The other way round than in Chat Completions.
    strict: readOptional(asBoolean, raw['strict'], `${path}.strict`) ?? true,
  }
}

const asMode = asOneOf(['none', 'auto', 'required'])
const asAllowedMode = asOneOf(['auto', 'required'])

export function parseResponsesToolChoice(value: unknown, path: string): ToolChoice {
  if (typeof value === 'string') return { type: asMode(value, path) }
  if (!isObject(value)) throw createWrongTypeError(value, path, 'a string or an object')
  const type = asString(value['type'], `${path}.type`)
  if (type === 'function' || type === 'custom') return { type, name: nameOf(value, type, path) }
  if (type !== 'allowed_tools') return { type: 'opaque', raw: value }
  return allowed(value, path)
}

/** Chat Completions nests the name, and clients send that here as well. */
function nameOf(choice: JsonObject, type: 'function' | 'custom', path: string): string {
  const nested = choice[type]
  if (choice['name'] === undefined && isObject(nested)) {
    return asString(nested['name'], `${path}.${type}.name`)
  }
  return asString(choice['name'], `${path}.name`)
}

function allowed(choice: JsonObject, path: string): ToolChoice {
  const nested = choice['allowed_tools']
  if (choice['tools'] === undefined && isObject(nested)) {
    return allowed({ ...nested, type: 'allowed_tools' }, `${path}.allowed_tools`)
  }
  const mode = asAllowedMode(choice['mode'], `${path}.mode`)
  const tools = asList(choice['tools'], `${path}.tools`)
  const names: string[] = []
  for (const [at, entry] of tools.entries()) {
    const tool = asObject(entry, `${path}.tools[${at}]`)
    const type = asString(tool['type'], `${path}.tools[${at}].type`)
    // A hosted tool has no name to allow it by.
    if (type !== 'function' && type !== 'custom') return { type: 'opaque', raw: choice }
    names.push(nameOf(tool, type, `${path}.tools[${at}]`))
  }
  return { type: 'allowed', mode, names }
}
