/**
 * What a wire noted, in the terms of the client: places are those in everything that its request and
 * its history make up, and a field is called what the client called it.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'

/** `places` says where each item that the wire was given stood at first; `null` for one added. */
export function translateProviderNotes(
  notes: readonly Note[],
  places: readonly (number | null)[],
  body: JsonObject,
): readonly Note[] {
  return notes.map(({ at, ...note }) => {
    const place = at === undefined ? null : (places[at] ?? null)
    const { field } = note
    return {
      ...note,
      ...(place === null ? {} : { at: place }),
      ...(field === undefined ? {} : { field: fieldSaidIn(body, field) }),
    }
  })
}

/** Names of one and the same thing in the two languages, and older ones. */
const NAMES: readonly (readonly string[])[] = [
  ['max_output_tokens', 'max_completion_tokens', 'max_tokens'],
  ['text.format', 'response_format'],
  ['text.verbosity', 'verbosity'],
  ['reasoning.effort', 'reasoning_effort'],
  ['include', 'logprobs'],
  ['safety_identifier', 'user'],
]

function fieldSaidIn(body: JsonObject, field: string): string {
  if (isSaid(body, field)) return field
  const names = NAMES.find((group) => group.includes(field)) ?? []
  return names.find((name) => isSaid(body, name)) ?? field
}

function isSaid(body: JsonObject, path: string): boolean {
  let value: unknown = body
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined
  return value !== undefined && value !== null
}
