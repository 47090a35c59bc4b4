/** Finds the first item that was sent differently than in the previous request, and the reason. */
import {
  causeFromNote,
  causeFromMissingNote,
  type DifferenceCause,
  type DescribeNote,
} from './difference-cause.ts'
import type { RequestPair } from './find-field-cause.ts'
import type { ItemDisposition, DispositionNote } from '../item-dispositions.ts'

/**
 * Returns the cause of the first difference between the sent items of the previous request (`oldItems`)
 * and of this one; null if all items of the previous request are sent again unchanged.
 */
export function findItemCause(
  oldItems: readonly ItemDisposition[],
  newItems: readonly ItemDisposition[],
  { before, now, wire, sentenceOf }: RequestPair,
): DifferenceCause | null {
  const index = oldItems.findIndex((fate, position) => {
    const newItem = newItems[position]
    return newItem === undefined || describeSentItem(fate, wire) !== describeSentItem(newItem, wire)
  })
  const previous = oldItems[index]
  if (previous === undefined) return null
  const current = newItems[index] ?? null
  if (current !== null && isSameItem(previous, current)) {
    return findChangeCause(previous, current, wire, sentenceOf) ?? createChangedCause(current.place)
  }
  const rest = newItems.slice(index)
  return (
    (previous.place === null ? findAddedItemCause(previous, current, rest, sentenceOf) : null) ??
    findDropCause(previous, now.fates, wire, sentenceOf) ??
    findNewItemCause(current, before.fates, wire, sentenceOf) ??
    findClientCause(previous, current, rest, oldItems.slice(index))
  )
}

/** Returns a text that is equal for equal items. It omits the index, which a dropped item shifts. */
function describeSentItem(fate: ItemDisposition, wire: string): string {
  const { type, role, author, preview, bytes, notes = [] } = fate
  const wireNotes = notes
    .filter(({ by, did }) => by === wire && did !== 'added')
    .map(({ why }) => why)
  return JSON.stringify([type, role, author, preview, bytes, wireNotes])
}

/** True if both seem to be the same original item; sizes are compared only if known. */
function isSameItem(one: ItemDisposition, other: ItemDisposition): boolean {
  const [size, otherSize] = [givenBytes(one), givenBytes(other)]
  return (
    one.type === other.type &&
    one.role === other.role &&
    one.preview === other.preview &&
    (one.place === null) === (other.place === null) &&
    (size === null || otherSize === null || size === otherSize)
  )
}

function givenBytes({ fate, bytes, given_bytes: given }: ItemDisposition): number | null {
  return given ?? (fate === 'changed' ? null : bytes)
}

/** Finds the note that explains why an item was sent differently: only one of its two versions has it. */
function findChangeCause(
  previous: ItemDisposition,
  current: ItemDisposition,
  wire: string,
  sentenceOf: DescribeNote,
): DifferenceCause | null {
  const [oldNotes, newNotes] = [previous.notes ?? [], current.notes ?? []]
  const { place } = current
  const started = newNotes.filter(({ why }) => !oldNotes.some((note) => note.why === why))
  const ended = oldNotes.filter(({ why }) => !newNotes.some((note) => note.why === why))
  return (
    causeFromNote(selectNote(started, wire), sentenceOf, place) ??
    causeFromMissingNote(selectNote(ended, wire), sentenceOf, place) ??
    // No note is new or gone, but the same transform may have shortened the item more than before.
    causeFromNote(selectNote(newNotes, wire), sentenceOf, place)
  )
}

/** Explains an inserted item that differs: it moved, changed or is gone. */
function findAddedItemCause(
  previous: ItemDisposition,
  current: ItemDisposition | null,
  rest: readonly ItemDisposition[],
  sentenceOf: DescribeNote,
): DifferenceCause | null {
  const note = previous.notes?.at(-1)
  if (note === undefined) return null
  const isBySameTransform = (fate: ItemDisposition): boolean =>
    fate.place === null && fate.notes?.at(-1)?.by === note.by
  if (rest.some((fate) => isBySameTransform(fate) && isSameItem(fate, previous))) {
    const moved = note.why === 'context-note' ? { ...note, why: 'note-moved' } : note
    return causeFromNote(moved, sentenceOf, null)
  }
  const replacement =
    current !== null && isBySameTransform(current) ? current.notes?.at(-1) : undefined
  return (
    causeFromNote(replacement, sentenceOf, null) ?? causeFromMissingNote(note, sentenceOf, null)
  )
}

/** Finds the reason for dropping an item that the previous request had. */
function findDropCause(
  previous: ItemDisposition,
  now: readonly ItemDisposition[],
  wire: string,
  sentenceOf: DescribeNote,
): DifferenceCause | null {
  const dropped = now.filter((fate) => fate.fate === 'dropped' && isSameItem(fate, previous))
  const found = dropped.find(({ place }) => place === previous.place) ?? dropped[0]
  return causeFromNote(selectNote(found?.notes ?? [], wire), sentenceOf, found?.place)
}

/** Finds the reason for an item that the previous request lacked. */
function findNewItemCause(
  current: ItemDisposition | null,
  before: readonly ItemDisposition[],
  wire: string,
  sentenceOf: DescribeNote,
): DifferenceCause | null {
  if (current === null) return null
  const { place } = current
  if (current.fate === 'added') {
    return causeFromNote(
      current.notes?.find(({ did }) => did === 'added'),
      sentenceOf,
      place,
    )
  }
  const droppedBefore = before.find(
    (fate) => fate.fate === 'dropped' && fate.place === place && isSameItem(fate, current),
  )
  return causeFromMissingNote(selectNote(droppedBefore?.notes ?? [], wire), sentenceOf, place)
}

function findClientCause(
  previous: ItemDisposition,
  current: ItemDisposition | null,
  rest: readonly ItemDisposition[],
  oldRest: readonly ItemDisposition[],
): DifferenceCause {
  const isInserted = rest.some((fate) => isSameItem(fate, previous))
  const isRemoved = current === null || oldRest.some((fate) => isSameItem(fate, current))
  if (current !== null && isInserted && !isRemoved) {
    const sentence = `The client inserted item ${current.place}.`
    return { who: 'client', place: current.place, sentence }
  }
  if (isRemoved && !isInserted) {
    const sentence = `The client removed the former item ${previous.place}.`
    return { who: 'client', place: previous.place, sentence }
  }
  return createChangedCause(current?.place ?? previous.place)
}

function createChangedCause(place: number | null): DifferenceCause {
  const subject = place === null ? 'an item' : `item ${place}`
  return { who: 'client', place, sentence: `The client changed ${subject}.` }
}

/** Selects the note that explains an item: drops before changes, notes of transforms before the wire's. */
function selectNote(notes: readonly DispositionNote[], wire: string): DispositionNote | null {
  const decisions = notes.filter(({ by }) => by !== wire)
  const candidates = decisions.length > 0 ? decisions : notes
  return candidates.findLast(({ did }) => did === 'dropped') ?? candidates.at(-1) ?? null
}
