/**
 * Collects the notes of one encoding: what a wire changed, moved, added or left out. Each wire has
 * a table of its codes, e.g. `'empty-text': ['changed', 'The API rejects empty text.']`.
 */
import type { Note } from '../core/note.ts'

/**
 * `dropped` means that the model does not get the content at all; content that is sent in another
 * form is `changed`. A request with `UNSUPPORTED=reject` is refused for `dropped` notes only.
 */
export type NoteTable<Code extends string = string> = Readonly<
  Record<Code, readonly [did: Note['did'], sentence: string]>
>

/** Builds the part of a table for notes with the same `did`. */
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
 * The subject of a note: `at` is an item's index in the prompt, `field` the name of a request
 * field, e.g. `tools[0]`.
 */
interface NotePosition {
  readonly at?: number | null
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
    write(why, { at, field, detail } = {}) {
      notes.push({
        did: table[why][0],
        ...(typeof at === 'number' ? { at } : {}),
        ...(field === undefined ? {} : { field }),
        why,
        by: wire,
        ...(detail === undefined ? {} : { detail }),
      })
    },
  }
}
