/**
 * Collects the notes that an encoder writes about content that it drops, changes, moves or adds.
 */
import type { Note } from '../core/note.ts'

/**
 * The notes of a provider by code, e.g. `'empty-text': ['changed', 'The API rejects empty text.']`.
 * `dropped` means that the model does not get the content at all. With `UNSUPPORTED=reject`, such a
 * note about a field, or about a new message or tool output of the client, makes the gateway reject
 * the request. The header `x-backstory-dropped` lists the fields with a note `dropped` or `weakened`.
 */
export type NoteTable<Code extends string = string> = Readonly<
  Record<Code, readonly [did: Note['did'], sentence: string]>
>

/** Creates a note table (code → `did` and sentence) in which all codes have the same `did`. */
export function describeNotes<Code extends string>(
  did: Note['did'],
  sentences: Readonly<Record<Code, string>>,
): NoteTable<Code> {
  const entries = Object.entries<string>(sentences).map(([code, sentence]) => [
    code,
    [did, sentence],
  ])
  return Object.fromEntries(entries) as NoteTable<Code>
}

export interface NoteCollector<Code extends string> {
  readonly write: (why: Code, where?: NotePosition) => void
  readonly notes: readonly Note[]
}

/**
 * The part of a request that a note is about: an item, by its index in the prompt, or a request
 * field, e.g. `tools[0]`. `itemIndex` becomes the note's field `at`.
 */
interface NotePosition {
  readonly itemIndex?: number | null
  readonly field?: string
  readonly detail?: string
}

export function createNoteCollector<Code extends string>(
  wire: string,
  table: NoteTable<Code>,
): NoteCollector<Code> {
  const notes: Note[] = []
  return {
    notes,
    write(why, { itemIndex, field, detail } = {}) {
      notes.push({
        did: table[why][0],
        ...(typeof itemIndex === 'number' ? { at: itemIndex } : {}),
        ...(field === undefined ? {} : { field }),
        why,
        by: wire,
        ...(detail === undefined ? {} : { detail }),
      })
    },
  }
}
