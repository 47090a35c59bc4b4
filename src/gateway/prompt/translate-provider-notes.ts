/**
 * Translates an encoder's notes: `at`, an index in the prompt, becomes the item's index before all transforms. A
 * field gets the name that the client used, e.g. `max_output_tokens` → `max_tokens`.
 */
import { translateNoteIndex } from '../../context/list-and-run-transforms.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'

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

/** Groups of fields with the same meaning: their names in the Responses API and in Chat Completions. */
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
