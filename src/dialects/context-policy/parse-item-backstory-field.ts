/**
 * Reads the field `backstory` of an item or a message: the author, the time, `pin` (the item is
 * sent with every request), and `reset` (of the items before this one, only pinned ones are still
 * sent).
 */
import { removeReferencesOfEntry } from '../../core/markers/reasoning-reference.ts'
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { patchList, patchObject } from '../../core/json/patch-object.ts'
import {
  asBoolean,
  asObjectWith,
  asOneOf,
  asString,
  createInvalidValueError,
  createMissingFieldError,
} from '../checks/check-json-types.ts'
import { asIntegerBetween } from '../checks/check-value-limits.ts'

/** Reads the field. Returns `null` if it is absent or changes nothing, e.g. `{ pin: false }`. */
export function parseItemBackstoryField(value: unknown, path: string): JsonObject | null {
  if (value === undefined || value === null) return null
  const field = asItemFields(value, path)
  // `pin: false` and `reset: false` are not stored, because they are the defaults.
  const entries = Object.entries(field).filter(([, fieldValue]) => fieldValue !== false)
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

const MAX_AUTHOR_CHARS = 256

const asAuthorFields = asObjectWith({
  id: asAuthorText,
  name: asAuthorText,
  type: asOneOf(['user', 'bot', 'assistant']),
})

const asItemFields = asObjectWith({
  pin: asBoolean,
  reset: asBoolean,
  author: asAuthor,
  // `sent_at` is in seconds since 1970.
  sent_at: asIntegerBetween(0, Number.MAX_SAFE_INTEGER),
})

function asAuthor(value: unknown, path: string): JsonObject {
  const author = asAuthorFields(value, path)
  if (author.id === undefined && author.name === undefined) {
    throw createMissingFieldError(`${path}.id`)
  }
  return author
}

function asAuthorText(value: unknown, path: string): string {
  const text = asString(value, path)
  if (text.trim() !== '' && text.length <= MAX_AUTHOR_CHARS) return text
  const reason = `expected 1 to ${MAX_AUTHOR_CHARS} characters that are not all blank.`
  throw createInvalidValueError(path, reason)
}

/** The fields of a body that contain lists of messages or items. */
const LIST_FIELDS = ['messages', 'input', 'instructions'] as const

/**
 * Removes `backstory`, and the gateway's references in `reasoning_details`, from the entries of a body. Returns the same
 * object if no entry has them.
 */
export function removeItemBackstoryFields(body: JsonObject): JsonObject {
  let cleanBody = body
  for (const name of LIST_FIELDS) {
    const entries: unknown = body[name]
    if (!Array.isArray(entries)) continue
    const cleanEntries = patchList(entries as readonly unknown[], removeGatewayFields)
    if (cleanEntries !== entries) cleanBody = { ...cleanBody, [name]: cleanEntries as Json }
  }
  return cleanBody
}

function removeGatewayFields(entry: unknown): unknown {
  return isObject(entry)
    ? removeReferencesOfEntry(patchObject(entry, { backstory: undefined }))
    : entry
}
