/**
 * Why a request is not the same as the one before it from some place on: which decision it was, of
 * whom. Told from what became of the items then and now.
 */
import type { Comparison } from './compare-requests.ts'
import type { Fate, FateNote } from './fates.ts'

export interface Cause {
  readonly who: 'nobody' | 'client' | 'gateway' | 'route'
  /** The place of the item that it is about. */
  readonly place?: number | null
  /** The transform, or the wire. */
  readonly by?: string
  readonly why?: string
  readonly sentence: string
}

export interface Sides {
  readonly comparison: Comparison
  readonly before: readonly Fate[]
  readonly now: readonly Fate[]
  /** One sentence for a note. */
  readonly sentenceOf: (note: FateNote) => string
}

export function causeOf({ comparison, before, now, sentenceOf }: Sides): Cause {
  const { path } = comparison
  if (path === null) return { who: 'nobody', sentence: 'Nothing is different.' }
  const [former, own] = [before.filter(isSent), now.filter(isSent)]
  const names = former.map(nameOf)
  const at = own.findIndex((fate, place) => nameOf(fate) !== names[place])
  const differs = at < 0 ? undefined : own[at]
  const was = at < 0 ? former[own.length] : former[at]
  // Everything that was sent before is sent again: the rest is new.
  if (was === undefined) {
    if (isOfConversation(path[0])) return NEW
    return {
      who: 'client',
      sentence: `The request has other ${String(path[0])} than the one before it.`,
    }
  }
  const isSame = differs?.type === was.type && differs.preview === was.preview
  const note = isSame ? newNoteOn(differs, was) : (noteOnLost(was, now) ?? noteOnAdded(differs))
  if (note !== null) {
    const { by, why } = note.note
    const author = by === undefined ? {} : { by }
    return { who: 'gateway', place: note.place, ...author, why, sentence: sentenceOf(note.note) }
  }
  const place = differs?.place ?? was.place
  return { who: 'client', place, sentence: `The client changed item ${place ?? 'at its end'}.` }
}

const NEW: Cause = { who: 'nobody', sentence: 'From here on it is new: the conversation goes on.' }

/** Instructions may be items, or stand in a field of their own. */
function isOfConversation(field: unknown): boolean {
  return field === 'messages' || field === 'input' || field === 'contents' || field === 'items'
}

function isSent({ fate }: Fate): boolean {
  return fate !== 'dropped'
}

/** Where it stood is not part of it: what is left out moves all that follows. */
function nameOf({ type, role, preview, bytes }: Fate): string {
  return JSON.stringify([type, role, preview, bytes])
}

interface Found {
  readonly note: FateNote
  readonly place: number | null
}

function newNoteOn(fate: Fate, was: Fate): Found | null {
  const known = new Set((was.notes ?? []).map(({ why }) => why))
  const note = fate.notes?.findLast(({ why }) => !known.has(why))
  return note === undefined ? null : { note, place: fate.place }
}

function noteOnAdded(fate: Fate | undefined): Found | null {
  const note = fate?.fate === 'added' ? fate.notes?.at(-1) : undefined
  return fate === undefined || note === undefined ? null : { note, place: fate.place }
}

/** What was sent then, and is not now. */
function noteOnLost(was: Fate, now: readonly Fate[]): Found | null {
  const lost = now.find(
    ({ fate, type, preview }) => fate === 'dropped' && type === was.type && preview === was.preview,
  )
  const note = lost?.notes?.findLast(({ did }) => did === 'dropped') ?? lost?.notes?.at(-1)
  return lost === undefined || note === undefined ? null : { note, place: lost.place }
}
