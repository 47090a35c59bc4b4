/**
 * Reads the field `backstory` of an item or a message: who has said it, whether it is to stay under
 * any window, whether the conversation begins anew with it. Whatever else stands there is refused.
 */
import type { Json, JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import {
  asBoolean,
  asObject,
  asOneOf,
  asString,
  readOptional,
  createMissingFieldError,
  rejectUnknownFields,
} from '../checks/check-json-types.ts'
import { asIntegerBetween } from '../checks/check-value-limits.ts'

/** `null` for one that says nothing. */
export function parseItemBackstoryField(value: unknown, path: string): JsonObject | null {
  // Nearly all items have none.
  if (value === undefined || value === null) return null
  const said = asObject(value, path)
  rejectUnknownFields(said, FIELDS, path)
  const sentAt = readOptional(asMoment, said['sent_at'], `${path}.sent_at`)
  const author = readOptional(parseAuthor, said['author'], `${path}.author`)
  const field: Record<string, Json> = {}
  for (const name of ['pin', 'reset']) {
    if (readOptional(asBoolean, said[name], `${path}.${name}`) === true) field[name] = true
  }
  if (author !== null) field['author'] = author
  if (sentAt !== null) field['sent_at'] = sentAt
  return Object.keys(field).length === 0 ? null : field
}

const FIELDS = ['pin', 'author', 'reset', 'sent_at']
const AUTHOR = ['id', 'name', 'type']

const asMoment = asIntegerBetween(0, Number.MAX_SAFE_INTEGER)
const asType = asOneOf(['user', 'bot', 'assistant'])

function parseAuthor(value: unknown, path: string): JsonObject {
  const said = asObject(value, path)
  rejectUnknownFields(said, AUTHOR, path)
  const id = readOptional(asWord, said['id'], `${path}.id`)
  const name = readOptional(asWord, said['name'], `${path}.name`)
  const type = readOptional(asString, said['type'], `${path}.type`)
  if (id === null && name === null) throw createMissingFieldError(`${path}.id`)
  return {
    ...(id === null ? {} : { id }),
    ...(name === null ? {} : { name }),
    ...(type === null ? {} : { type: asType(type, `${path}.type`) }),
  }
}

function asWord(value: unknown, path: string): string {
  const word = asString(value, path)
  if (word.trim() !== '' && word.length <= LONGEST) return word
  throw new GatewayError(
    'invalid_value',
    `Invalid value for \`${path}\`: expected 1 to ${LONGEST} characters that are not all blank.`,
    { param: path },
  )
}

const LONGEST = 256

const LISTS = ['messages', 'input', 'instructions'] as const

/** A body without the fields that no upstream shall see; the very same if there are none. */
export function removeItemBackstoryFields(body: JsonObject): JsonObject {
  let left = body
  for (const list of LISTS) {
    const entries: unknown = body[list]
    if (!Array.isArray(entries) || !entries.some(hasField)) continue
    left = { ...left, [list]: entries.map(withoutField) }
  }
  return left
}

function hasField(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'backstory' in entry
}

function withoutField(entry: JsonObject): JsonObject {
  if (!hasField(entry)) return entry
  const { backstory: _backstory, ...rest } = entry
  return rest
}
