/**
 * Collects the notes that an encoder writes about content that it changed, moved, added or left
 * out. Each wire has a table of its note codes, e.g.
 * `'empty-text': ['changed', 'The API rejects empty text.']`.
 */
import type { Note } from '../core/note.ts'

/**
 * The notes of a wire by code. `dropped` means that the model does not get the content at all;
 * content that is sent in another form is `changed`. With `UNSUPPORTED=reject`, the gateway rejects
 * a request with a `dropped` note.
 */
export type NoteTable<Code extends string = string> = Readonly<
  Record<Code, readonly [did: Note['did'], sentence: string]>
>

/** Builds the entries of a table that have the same `did`. */
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
 * The part of a request that a note is about: `at` is an item's index in the prompt, `field` the
 * name of a request field, e.g. `tools[0]`.
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
