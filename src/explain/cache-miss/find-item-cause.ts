/** Which item is the first that was not sent as it was the time before, and who decided so. */
import {
  causeFromNote,
  causeFromEndedNote,
  type DifferenceCause,
  type DescribeNote,
} from './difference-cause.ts'
import type { RequestPair } from './find-field-cause.ts'
import type { ItemDisposition, DispositionNote } from '../item-dispositions.ts'

/**
 * `former` and `own` are what was sent, then and now. `null` where all that was sent then is sent
 * again, and the rest is new.
 */
export function findItemCause(
  former: readonly ItemDisposition[],
  own: readonly ItemDisposition[],
  { before, now, wire, sentenceOf }: RequestPair,
): DifferenceCause | null {
  const at = former.findIndex((fate, place) => {
    const there = own[place]
    return there === undefined || asSent(fate, wire) !== asSent(there, wire)
  })
  const was = former[at]
  if (was === undefined) return null
  const is = own[at] ?? null
  if (is !== null && isSameItem(was, is)) {
    return causeOnItem(was, is, wire, sentenceOf) ?? changed(is.place)
  }
  const rest = own.slice(at)
  return (
    (was.place === null ? causeOfAdded(was, is, rest, sentenceOf) : null) ??
    causeOfLoss(was, now.fates, wire, sentenceOf) ??
    causeOfNew(is, before.fates, wire, sentenceOf) ??
    causeOfClient(was, is, rest, former.slice(at))
  )
}

/** Where it stood is not part of it: what is left out moves all that follows. */
function asSent(fate: ItemDisposition, wire: string): string {
  const { type, role, author, preview, bytes, notes = [] } = fate
  const words = notes.filter(({ by, did }) => by === wire && did !== 'added').map(({ why }) => why)
  return JSON.stringify([type, role, author, preview, bytes, words])
}

/** Whether it was the same before anybody changed it, as far as that is known. */
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

/** The same item, told otherwise. */
function causeOnItem(
  was: ItemDisposition,
  is: ItemDisposition,
  wire: string,
  sentenceOf: DescribeNote,
): DifferenceCause | null {
  const [then, today] = [was.notes ?? [], is.notes ?? []]
  const about = { place: is.place }
  const begun = chosen(
    today.filter(({ why }) => !then.some((note) => note.why === why)),
    wire,
  )
  if (begun !== null) return causeFromNote(begun, sentenceOf, about)
  const ended = chosen(
    then.filter(({ why }) => !today.some((note) => note.why === why)),
    wire,
  )
  if (ended !== null) return causeFromEndedNote(ended, sentenceOf, about)
  // For the same reason it may have been changed further.
  const further = chosen(today, wire)
  return further === null ? null : causeFromNote(further, sentenceOf, about)
}

/** What the gateway had put in, and is not there any more: it has moved on, is told anew, or is gone. */
function causeOfAdded(
  was: ItemDisposition,
  is: ItemDisposition | null,
  rest: readonly ItemDisposition[],
  sentenceOf: DescribeNote,
): DifferenceCause | null {
  const note = was.notes?.at(-1)
  if (note === undefined) return null
  const isOfSame = (fate: ItemDisposition): boolean =>
    fate.place === null && fate.notes?.at(-1)?.by === note.by
  if (rest.some((fate) => isOfSame(fate) && isSameItem(fate, was))) {
    const moved = note.why === 'context-note' ? { ...note, why: 'note-moved' } : note
    return causeFromNote(moved, sentenceOf, { place: null })
  }
  const anew = is !== null && isOfSame(is) ? is.notes?.at(-1) : undefined
  return anew === undefined
    ? causeFromEndedNote(note, sentenceOf, { place: null })
    : causeFromNote(anew, sentenceOf, { place: null })
}

/** What was sent then, and is left out now. */
function causeOfLoss(
  was: ItemDisposition,
  now: readonly ItemDisposition[],
  wire: string,
  sentenceOf: DescribeNote,
): DifferenceCause | null {
  const lost = now.filter((fate) => fate.fate === 'dropped' && isSameItem(fate, was))
  const found = lost.find(({ place }) => place === was.place) ?? lost[0]
  const note = chosen(found?.notes ?? [], wire)
  return found === undefined || note === null
    ? null
    : causeFromNote(note, sentenceOf, { place: found.place })
}

/** What is sent now, and was not there or was left out before. */
function causeOfNew(
  is: ItemDisposition | null,
  before: readonly ItemDisposition[],
  wire: string,
  sentenceOf: DescribeNote,
): DifferenceCause | null {
  if (is === null) return null
  const about = { place: is.place }
  if (is.fate === 'added') {
    const note = is.notes?.find(({ did }) => did === 'added')
    return note === undefined ? null : causeFromNote(note, sentenceOf, about)
  }
  const left = before.find(
    (then) => then.fate === 'dropped' && then.place === is.place && isSameItem(then, is),
  )
  const note = chosen(left?.notes ?? [], wire)
  return note === null ? null : causeFromEndedNote(note, sentenceOf, about)
}

function causeOfClient(
  was: ItemDisposition,
  is: ItemDisposition | null,
  rest: readonly ItemDisposition[],
  formerRest: readonly ItemDisposition[],
): DifferenceCause {
  const isPutIn = rest.some((fate) => isSameItem(fate, was))
  const isTakenOut = is === null || formerRest.some((fate) => isSameItem(fate, is))
  if (is !== null && isPutIn && !isTakenOut) {
    const sentence = `The client has put in item ${is.place}.`
    return { who: 'client', place: is.place, sentence }
  }
  if (isTakenOut && !isPutIn) {
    const sentence = `The client has taken out what was item ${was.place}.`
    return { who: 'client', place: was.place, sentence }
  }
  return changed(is?.place ?? was.place)
}

function changed(place: number | null): DifferenceCause {
  return { who: 'client', place, sentence: `The client changed item ${place ?? 'at its end'}.` }
}

/** Losses before changes, and whatever was decided before how a wire says the rest. */
function chosen(notes: readonly DispositionNote[], wire: string): DispositionNote | null {
  const decisions = notes.filter(({ by }) => by !== wire)
  const ofAny = decisions.length > 0 ? decisions : notes
  return ofAny.findLast(({ did }) => did === 'dropped') ?? ofAny.at(-1) ?? null
}
