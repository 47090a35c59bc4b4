/**
 * Parses the entries of `input` into items. Returns an entry as the same object if nothing in it
 * has to be corrected, otherwise a corrected copy, e.g. without a field that is `null`. An entry of
 * an unknown type is stored unchanged.
 */
import type { Item, Role } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import {
  asListOf,
  asObject,
  asOneOf,
  asString,
  readOptional,
  createMissingFieldError,
  type JsonReader,
} from '../../checks/check-json-types.ts'
import { patchList, patchObject } from '../../../core/json/patch-object.ts'
import { removeReferencesOfEntry } from '../../../core/markers/reasoning-reference.ts'
import { parseItemBackstoryField } from '../../context-policy/parse-item-backstory-field.ts'
import { parseToolOutput, parseResponsesContent, readOptionalTexts } from './parse-content-parts.ts'

export const parseItems: JsonReader<readonly Item[]> = asListOf(parseItem)

function parseItem(value: unknown, path: string): Item {
  const entry = removeReferencesOfEntry(asObject(value, path))
  const type = readItemType(entry, path)
  const read = ITEM_READERS.get(type)
  if (read === undefined || isOutputWithoutCall(entry)) {
    const raw = patchObject(entry, { type, backstory: undefined })
    const native = readNative(entry, path)
    return { type: 'opaque', raw, ...(native === undefined ? {} : { native }) }
  }
  // The type cast is safe, because the reader has checked all fields of this type of item.
  return patchObject(entry, {
    type,
    ...read(entry, path),
    ...readCommonFields(entry, path),
  }) as unknown as Item
}

/** Reads the type of an entry. In this API, a message and an item reference need no type. */
function readItemType(entry: JsonObject, path: string): string {
  const type = readOptional(asString, entry['type'], `${path}.type`)
  if (type !== null) return type
  if ('role' in entry) return 'message'
  if ('id' in entry) return 'item_reference'
  throw createMissingFieldError(`${path}.type`)
}

/**
 * True for a tool output without `call_id`. Its call cannot be found, so the entry is stored
 * unchanged.
 */
function isOutputWithoutCall(entry: JsonObject): boolean {
  return entry['type'] === 'function_call_output' && (entry['call_id'] ?? null) === null
}

/**
 * A function that checks an entry and returns the fields to correct in it, e.g. `id: undefined` to
 * remove `id: null`. Fields that are already correct may be among them.
 */
type ItemReader = (entry: JsonObject, path: string) => Readonly<Record<string, Json | undefined>>

const ITEM_READERS: ReadonlyMap<string, ItemReader> = new Map<string, ItemReader>([
  ['message', readMessage],
  ['function_call', toolCallReader('arguments')],
  ['function_call_output', readToolOutput],
  ['custom_tool_call', toolCallReader('input')],
  ['custom_tool_call_output', readToolOutput],
  ['reasoning', readReasoning],
])

/**
 * Reads the fields that items of all types have. Removes fields that SDKs send as `null`, and
 * `origin` and `native`, which only the gateway may set.
 */
function readCommonFields(entry: JsonObject, path: string): ReturnType<ItemReader> {
  return {
    ...readOptionalTexts(entry, ['id', 'status'], path),
    native: readNative(entry, path),
    backstory: undefined,
    origin: undefined,
  }
}

function readNative(
  { backstory }: JsonObject,
  path: string,
): { backstory: JsonObject } | undefined {
  const options = parseItemBackstoryField(backstory, `${path}.backstory`)
  return options === null ? undefined : { backstory: options }
}

const ROLES = ['system', 'developer', 'user', 'assistant'] as const satisfies readonly Role[]
const asRole = asOneOf(ROLES)

function readMessage(entry: JsonObject, path: string): ReturnType<ItemReader> {
  const role = asRole(entry['role'], `${path}.role`)
  const textType = role === 'assistant' ? 'output_text' : 'input_text'
  return {
    content: parseResponsesContent(entry['content'], textType, `${path}.content`),
    ...readOptionalTexts(entry, ['phase'], path),
  }
}

function toolCallReader(inputField: 'arguments' | 'input'): ItemReader {
  return (entry, path) => {
    for (const name of ['call_id', 'name', inputField]) asString(entry[name], `${path}.${name}`)
    return {}
  }
}

function readToolOutput(entry: JsonObject, path: string): ReturnType<ItemReader> {
  asString(entry['call_id'], `${path}.call_id`)
  return { output: parseToolOutput(entry['output'], `${path}.output`) }
}

function readReasoning(entry: JsonObject, path: string): ReturnType<ItemReader> {
  const { summary, content } = entry
  readOptional(asString, entry['encrypted_content'], `${path}.encrypted_content`)
  const asSummary = reasoningPartsReader('summary_text')
  const asContent = reasoningPartsReader('reasoning_text')
  return {
    summary: readOptional(asSummary, summary, `${path}.summary`) ?? [],
    content: readOptional(asContent, content, `${path}.content`) ?? undefined,
  }
}

/**
 * Creates a reader of reasoning parts that sets `type` in each part. The reader returns the
 * client's own list if all parts have that type already.
 */
function reasoningPartsReader(type: string): JsonReader<readonly JsonObject[]> {
  return (value, path) => {
    asListOf(asObject)(value, path)
    return patchList(value as readonly JsonObject[], (part, index) => {
      asString(part['text'], `${path}[${index}].text`)
      return patchObject(part, { type })
    })
  }
}
