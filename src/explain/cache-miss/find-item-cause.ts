/** Finds the first item that differs from the previous request, and the cause of its difference. */
import { createCause, createEndedCause, type DifferenceCause } from './difference-cause.ts'
import type { RequestPair } from './find-field-cause.ts'
import type { ItemDisposition, DispositionNote } from '../item-dispositions.ts'

/**
 * Returns the cause of the first difference between the sent items of the previous request (`oldItems`)
 * and of this one; null if all items of the previous request are sent again unchanged.
 */
export function findItemCause(
  oldItems: readonly ItemDisposition[],
  newItems: readonly ItemDisposition[],
  pair: RequestPair,
): DifferenceCause | null {
  const index = oldItems.findIndex((oldItem, position) => {
    const newItem = newItems[position]
    return (
      newItem === undefined ||
      describeSentItem(oldItem, pair.wire) !== describeSentItem(newItem, pair.wire)
    )
  })
  const previous = oldItems[index]
  if (previous === undefined) return null
  const current = newItems[index] ?? null
  if (current !== null && isSameItem(previous, current)) {
    return findChangeCause(previous, current, pair) ?? createChangedCause(current.place)
  }
  const rest = newItems.slice(index)
  return (
    (previous.place === null ? findAddedItemCause(previous, current, rest, pair) : null) ??
    findDropCause(previous, pair) ??
    findNewItemCause(current, pair) ??
    findClientCause(previous, current, rest, oldItems.slice(index))
  )
}

/**
 * Returns a text that is equal for two items if they were sent equally. It does not contain the index of an
 * item, because the index changes when an earlier item is dropped.
 */
function describeSentItem(disposition: ItemDisposition, wire: string): string {
  const { type, role, author, preview, bytes, notes = [] } = disposition
  const wireNotes = notes
    .filter(({ by, did }) => by === wire && did !== 'added')
    .map(({ why }) => why)
  return JSON.stringify([type, role, author, preview, bytes, wireNotes])
}

/** True if both dispositions seem to describe the same original item. Ignores sizes that are unknown. */
function isSameItem(one: ItemDisposition, other: ItemDisposition): boolean {
  const [size, otherSize] = [originalBytesOf(one), originalBytesOf(other)]
  return (
    one.type === other.type &&
    one.role === other.role &&
    one.preview === other.preview &&
    (one.place === null) === (other.place === null) &&
    (size === null || otherSize === null || size === otherSize)
  )
}

function originalBytesOf({
  fate,
  bytes,
  given_bytes: originalBytes,
}: ItemDisposition): number | null {
  return originalBytes ?? (fate === 'changed' ? null : bytes)
}

/** Finds the cause for an item that changed: a note in only one of its two dispositions. */
function findChangeCause(
  previous: ItemDisposition,
  current: ItemDisposition,
  { wire, describeNote }: RequestPair,
): DifferenceCause | null {
  const [oldNotes, newNotes] = [previous.notes ?? [], current.notes ?? []]
  const { place } = current
  const started = newNotes.filter(({ why }) => !oldNotes.some((note) => note.why === why))
  const ended = oldNotes.filter(({ why }) => !newNotes.some((note) => note.why === why))
  return (
    createCause(selectNote(started, wire), describeNote, place) ??
    createEndedCause(selectNote(ended, wire), describeNote, place) ??
    // If both have the same notes, the transform may have shortened the item more than before.
    createCause(selectNote(newNotes, wire), describeNote, place)
  )
}

/**
 * Finds the cause for an item that the gateway inserted into the previous request. Now it is elsewhere,
 * changed or missing.
 */
function findAddedItemCause(
  previous: ItemDisposition,
  current: ItemDisposition | null,
  rest: readonly ItemDisposition[],
  { describeNote }: RequestPair,
): DifferenceCause | null {
  const note = previous.notes?.at(-1)
  if (note === undefined) return null
  const isBySameTransform = (item: ItemDisposition): boolean =>
    item.place === null && item.notes?.at(-1)?.by === note.by
  if (rest.some((item) => isBySameTransform(item) && isSameItem(item, previous))) {
    const moved = note.why === 'context-note' ? { ...note, why: 'note-moved' } : note
    return createCause(moved, describeNote, null)
  }
  const replacement =
    current !== null && isBySameTransform(current) ? current.notes?.at(-1) : undefined
  return createCause(replacement, describeNote, null) ?? createEndedCause(note, describeNote, null)
}

/** Finds the cause for an item of the previous request that is dropped now. */
function findDropCause(
  previous: ItemDisposition,
  { now, wire, describeNote }: RequestPair,
): DifferenceCause | null {
  const dropped = now.dispositions.filter(
    (item) => item.fate === 'dropped' && isSameItem(item, previous),
  )
  const found = dropped.find(({ place }) => place === previous.place) ?? dropped[0]
  return createCause(selectNote(found?.notes ?? [], wire), describeNote, found?.place)
}

/** Finds the cause for an item that was inserted, or that was dropped from the previous request. */
function findNewItemCause(
  current: ItemDisposition | null,
  { before, wire, describeNote }: RequestPair,
): DifferenceCause | null {
  if (current === null) return null
  const { place } = current
  if (current.fate === 'added') {
    return createCause(
      current.notes?.find(({ did }) => did === 'added'),
      describeNote,
      place,
    )
  }
  const droppedBefore = before.dispositions.find(
    (item) => item.fate === 'dropped' && item.place === place && isSameItem(item, current),
  )
  return createEndedCause(selectNote(droppedBefore?.notes ?? [], wire), describeNote, place)
}

function findClientCause(
  previous: ItemDisposition,
  current: ItemDisposition | null,
  rest: readonly ItemDisposition[],
  oldRest: readonly ItemDisposition[],
): DifferenceCause {
  const isInserted = rest.some((item) => isSameItem(item, previous))
  const isRemoved = current === null || oldRest.some((item) => isSameItem(item, current))
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

/**
 * Returns the note that best explains an item: rather that of a transform than of the encoder, and rather a
 * drop than a change.
 */
function selectNote(notes: readonly DispositionNote[], wire: string): DispositionNote | null {
  const decisions = notes.filter(({ by }) => by !== wire)
  const candidates = decisions.length > 0 ? decisions : notes
  return candidates.findLast(({ did }) => did === 'dropped') ?? candidates.at(-1) ?? null
}
