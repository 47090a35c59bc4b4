/**
 * Gathers what one encoding could not say, or says differently. What happened, and a sentence for a
 * person, stand in the wire's own table by the note's code.
 */
import type { Note } from '../core/note.ts'

/**
 * `dropped` is for what is lost to the model; what is still said in other words is `changed`.
 * Whoever would rather be refused than lose something is told by this.
 */
export type NoteTable<Code extends string = string> = Readonly<
  Record<Code, readonly [did: Note['did'], sentence: string]>
>

export interface NoteCollector<Code extends string> {
  readonly write: (why: Code, where?: Where) => void
  readonly notes: readonly Note[]
}

/** The place of an item in the prompt, or the name of a request field. */
interface Where {
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
