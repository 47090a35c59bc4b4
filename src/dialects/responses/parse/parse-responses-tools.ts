/** Parses the tools of a request, and the tool choice: which tools the model may or must call. */
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { Tool, ToolChoice } from '../../../core/prompt.ts'
import { pickExtraToolFields } from '../../checks/pick-extra-tool-fields.ts'
import {
  asBoolean,
  asList,
  asListOf,
  asObject,
  asOneOf,
  asString,
  readOptional,
  createWrongTypeError,
  type JsonReader,
} from '../../checks/check-json-types.ts'

export const parseResponsesTools: JsonReader<readonly Tool[]> = asListOf(parseTool)

function parseTool(value: unknown, path: string): Tool {
  const raw = asObject(value, path)
  const type = asString(raw['type'], `${path}.type`)
  if (type !== 'function' && type !== 'custom') return { type: 'opaque', raw }
  const name = asString(raw['name'], `${path}.name`)
  const description = readOptional(asString, raw['description'], `${path}.description`)
  if (type === 'custom') {
    const format = raw['format'] ?? null
    return { type, name, description, format, ...pickExtraToolFields(raw) }
  }
  return {
    type,
    name,
    description,
    parameters: readOptional(asObject, raw['parameters'], `${path}.parameters`),
    // `strict` defaults to true here, but to false in Chat Completions.
    strict: readOptional(asBoolean, raw['strict'], `${path}.strict`) ?? true,
    ...pickExtraToolFields(raw),
  }
}

const asMode = asOneOf(['none', 'auto', 'required'])
const asAllowedMode = asOneOf(['auto', 'required'])

export function parseResponsesToolChoice(value: unknown, path: string): ToolChoice {
  if (typeof value === 'string') return { type: asMode(value, path) }
  if (!isObject(value)) throw createWrongTypeError(value, path, 'a string or an object')
  const type = asString(value['type'], `${path}.type`)
  if (type === 'function' || type === 'custom')
    return { type, name: readToolName(value, type, path) }
  if (type !== 'allowed_tools') return { type: 'opaque', raw: value }
  return parseAllowedTools(value, path)
}

/**
 * Reads the name of a tool, also in the nested form of Chat Completions that some clients send:
 * `{ function: { name } }`.
 */
function readToolName(choice: JsonObject, type: 'function' | 'custom', path: string): string {
  const nested = choice[type]
  if (choice['name'] === undefined && isObject(nested)) {
    return asString(nested['name'], `${path}.${type}.name`)
  }
  return asString(choice['name'], `${path}.name`)
}

function parseAllowedTools(choice: JsonObject, path: string): ToolChoice {
  const nested = choice['allowed_tools']
  if (choice['tools'] === undefined && isObject(nested)) {
    return parseAllowedTools({ ...nested, type: 'allowed_tools' }, `${path}.allowed_tools`)
  }
  const mode = asAllowedMode(choice['mode'], `${path}.mode`)
  const names: string[] = []
  for (const [index, entry] of asList(choice['tools'], `${path}.tools`).entries()) {
    const toolPath = `${path}.tools[${index}]`
    const tool = asObject(entry, toolPath)
    const type = asString(tool['type'], `${toolPath}.type`)
    // A hosted tool has no name, so a choice among tools that contains one is forwarded unchanged.
    if (type !== 'function' && type !== 'custom') return { type: 'opaque', raw: choice }
    names.push(readToolName(tool, type, toolPath))
  }
  return { type: 'allowed', mode, names }
}
