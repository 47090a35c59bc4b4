/**
 * The entries of `input`. An entry that is as it should be becomes an item as the very object it
 * is; what a client leaves out or writes as null is mended on a copy. A type that is not known here
 * is carried as it came.
 */
import type { Item, Role } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import {
  asList,
  asObject,
  asOneOf,
  asString,
  readOptional,
  createMissingFieldError,
} from '../../checks/check-json-types.ts'
import { patchObject } from '../../../core/json/patch-object.ts'
import { parseItemBackstoryField } from '../../context-policy/parse-item-backstory-field.ts'
import { parseToolOutput, parseContentParts } from './parse-content-parts.ts'

export function parseItems(input: unknown, path: string): readonly Item[] {
  return asList(input, path).map((entry, at) => parseItem(entry, `${path}[${at}]`))
}

function parseItem(value: unknown, path: string): Item {
  const entry = asObject(value, path)
  const type = typeOf(entry, path)
  const read = READERS.get(type)
  if (read === undefined || isUnpaired(entry)) {
    const raw = patchObject(entry, { type, backstory: undefined })
    const native = nativeOf(entry, path)
    return { type: 'opaque', raw, ...(native === undefined ? {} : { native }) }
  }
  // The reader has checked every field that the type of its item promises.
  return patchObject(entry, {
    type,
    ...read(entry, path),
    ...commonFields(entry, path),
  }) as unknown as Item
}

/** The API lets two types go without saying: a message and a reference. */
function typeOf(entry: JsonObject, path: string): string {
  const type = readOptional(asString, entry['type'], `${path}.type`)
  if (type !== null) return type
  if ('role' in entry) return 'message'
  if ('id' in entry) return 'item_reference'
  throw createMissingFieldError(`${path}.type`)
}

/** An output that names no call belongs to none that we could find. */
function isUnpaired(entry: JsonObject): boolean {
  return entry['type'] === 'function_call_output' && (entry['call_id'] ?? null) === null
}

/** Which fields are to be set anew, and how; those that are fine may be among them. */
type Reader = (entry: JsonObject, path: string) => Readonly<Record<string, Json | undefined>>

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['message', message],
  ['function_call', call('arguments')],
  ['function_call_output', callOutput],
  ['custom_tool_call', call('input')],
  ['custom_tool_call_output', callOutput],
  ['reasoning', reasoning],
])

/** SDKs write what is not set as null. Our own words about an item are not for a client to say. */
function commonFields(entry: JsonObject, path: string): ReturnType<Reader> {
  return {
    id: readOptional(asString, entry['id'], `${path}.id`) ?? undefined,
    status: readOptional(asString, entry['status'], `${path}.status`) ?? undefined,
    native: nativeOf(entry, path),
    backstory: undefined,
    origin: undefined,
  }
}

function nativeOf({ backstory }: JsonObject, path: string): { backstory: JsonObject } | undefined {
  const field = parseItemBackstoryField(backstory, `${path}.backstory`)
  return field === null ? undefined : { backstory: field }
}

const ROLES = ['system', 'developer', 'user', 'assistant'] as const satisfies readonly Role[]
const asRole = asOneOf(ROLES)

function message(entry: JsonObject, path: string): ReturnType<Reader> {
  const role = asRole(entry['role'], `${path}.role`)
  const said = role === 'assistant' ? 'output_text' : 'input_text'
  return {
    content: parseContentParts(entry['content'], said, `${path}.content`),
    phase: readOptional(asString, entry['phase'], `${path}.phase`) ?? undefined,
  }
}

function call(given: 'arguments' | 'input'): Reader {
  return (entry, path) => {
    for (const name of ['call_id', 'name', given]) asString(entry[name], `${path}.${name}`)
    return {}
  }
}

function callOutput(entry: JsonObject, path: string): ReturnType<Reader> {
  asString(entry['call_id'], `${path}.call_id`)
  return { output: parseToolOutput(entry['output'], `${path}.output`) }
}

function reasoning(entry: JsonObject, path: string): ReturnType<Reader> {
  const { summary, content } = entry
  readOptional(asString, entry['encrypted_content'], `${path}.encrypted_content`)
  return {
    summary: (summary ?? null) === null ? [] : thoughts(summary, 'summary_text', `${path}.summary`),
    content:
      (content ?? null) === null
        ? undefined
        : thoughts(content, 'reasoning_text', `${path}.content`),
  }
}

/** The list itself, if its parts are of the type that they must be. */
function thoughts(value: unknown, type: string, path: string): readonly JsonObject[] {
  const list = asList(value, path) as readonly JsonObject[]
  const parts = list.map((part, at) => {
    asString(asObject(part, `${path}[${at}]`)['text'], `${path}[${at}].text`)
    return patchObject(part, { type })
  })
  return parts.every((part, at) => part === list[at]) ? list : parts
}
