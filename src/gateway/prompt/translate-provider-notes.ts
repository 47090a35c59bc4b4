/**
 * Translates an encoder's notes: `at`, an index in the prompt, becomes the item's index before all transforms. A
 * field gets the name that the client used, e.g. `max_output_tokens` → `max_tokens`.
 */
import { translateNoteIndex } from '../../context/list-and-run-transforms.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { AddedParameter } from './planned-request.ts'

/**
 * `originalPositions`: for each prompt item, its index before all transforms; null if a transform added it. `body`:
 * the body of the client's request.
 */
export function translateProviderNotes(
  notes: readonly Note[],
  originalPositions: readonly (number | null)[],
  body: JsonObject,
): readonly Note[] {
  return notes.map((note) => {
    const translated = translateNoteIndex(note, originalPositions)
    const { field } = note
    return field === undefined ? translated : { ...translated, field: findClientField(body, field) }
  })
}

/** Returns the notes without those about parameters that the gateway added itself. */
export function dropNotesAboutAddedParameters(
  notes: readonly Note[],
  added: readonly AddedParameter[],
): readonly Note[] {
  if (added.length === 0) return notes
  return notes.filter((note) => !added.some(({ field }) => field === note.field))
}

/** Groups of fields with the same meaning: their names in the Responses API and in Chat Completions. */
const FIELD_NAMES: readonly (readonly string[])[] = [
  ['max_output_tokens', 'max_completion_tokens', 'max_tokens'],
  ['text.format', 'response_format'],
  ['text.verbosity', 'verbosity'],
  ['reasoning.effort', 'reasoning_effort'],
  ['include', 'logprobs'],
  ['tool_choice', 'function_call'],
  ['safety_identifier', 'user'],
]

/** Returns the name that the client used for a field, e.g. `max_tokens` for `max_output_tokens`. */
export function findClientField(body: JsonObject, field: string): string {
  if (hasRequestField(body, field)) return field
  const names = FIELD_NAMES.find((group) => group.includes(field)) ?? listToolFieldNames(field)
  return names.find((name) => hasRequestField(body, name)) ?? field
}

/** Lists the names of a tool's field in Chat Completions, e.g. `tools[0].function.strict` for `tools[0].strict`. */
function listToolFieldNames(field: string): readonly string[] {
  const [, index, rest = ''] = /^tools(\[\d+\])(\..+)?$/.exec(field) ?? []
  if (index === undefined) return []
  const nested = rest === '' ? [] : [`tools${index}.function${rest}`, `tools${index}.custom${rest}`]
  return [...nested, `functions${index}${rest}`]
}

/** True if the body of a request has a value at this path, e.g. `tools[0].function.strict`. */
export function hasRequestField(body: JsonObject, path: string): boolean {
  if (Object.hasOwn(body, path)) return body[path] !== null
  let value: unknown = body
  for (const name of path.replaceAll(/\[(\d+)\]/g, '.$1').split('.')) {
    const isContainer = isObject(value) || Array.isArray(value)
    const container = isContainer ? (value as Readonly<Record<string, unknown>>) : {}
    value = Object.hasOwn(container, name) ? container[name] : undefined
  }
  return value !== undefined && value !== null
}
