/**
 * Translates the notes of an encoder into the client's terms: `at` becomes an index in the history followed
 * by the request, and a field gets the name that the client used for it.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'

/** `originalPositions`: for each encoded item its index before all transforms; null if one added it. */
export function translateProviderNotes(
  notes: readonly Note[],
  originalPositions: readonly (number | null)[],
  body: JsonObject,
): readonly Note[] {
  return notes.map(({ at, ...note }) => {
    const position = at === undefined ? null : (originalPositions[at] ?? null)
    const { field } = note
    return {
      ...note,
      ...(position === null ? {} : { at: position }),
      ...(field === undefined ? {} : { field: findClientField(body, field) }),
    }
  })
}

/** Names of the same field in the Responses API and in Chat Completions, old names included. */
const FIELD_NAMES: readonly (readonly string[])[] = [
  ['max_output_tokens', 'max_completion_tokens', 'max_tokens'],
  ['text.format', 'response_format'],
  ['text.verbosity', 'verbosity'],
  ['reasoning.effort', 'reasoning_effort'],
  ['include', 'logprobs'],
  ['safety_identifier', 'user'],
]

function findClientField(body: JsonObject, field: string): string {
  if (hasField(body, field)) return field
  const names = FIELD_NAMES.find((group) => group.includes(field)) ?? []
  return names.find((name) => hasField(body, name)) ?? field
}

function hasField(body: JsonObject, path: string): boolean {
  let value: unknown = body
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined
  return value !== undefined && value !== null
}
