/**
 * What became of each item of a conversation: what was given and what was remembered, in order, with
 * what was added in between. Told from the list before and after, and from the notes of whoever
 * changed it; nothing is guessed.
 */
import { readChatOnlyFields } from '../core/items/chat-only-fields.ts'
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import { readItemLayer, LAYER_TRANSFORM_NAME } from '../memory/insert-layer-blocks.ts'
import { previewItem } from './item-preview.ts'
import { ZERO_SIZE, measureItems, type Size, type ItemSizes } from './item-size.ts'

export interface ItemDisposition {
  /** In everything that the request and its history make up; `null` for what was added to it. */
  readonly place: number | null
  readonly type: string
  readonly role?: string | undefined
  readonly author?: string | undefined
  /** Said in the answer itself, for one that is told of a later round. */
  readonly from: 'request' | 'memory' | 'answer' | 'gateway'
  readonly preview: string
  readonly fate: 'sent' | 'changed' | 'dropped' | 'moved' | 'added'
  /** As it was sent, or as it would have been. */
  readonly bytes: number
  /** By estimate, which the provider has not set right. */
  readonly tokens: number
  /** As large as it was, if it was changed. */
  readonly given_bytes?: number | undefined
  readonly notes?: readonly DispositionNote[] | undefined
}

export type DispositionNote = Pick<Note, 'did' | 'why' | 'by' | 'detail'>

export interface DispositionInput {
  readonly items: readonly Item[]
  /** How many of them the history brought. */
  readonly remembered: number
  /** How many of them its client or the history brought; all, without a word. */
  readonly given?: number
  readonly sent: readonly Item[]
  /** Where each that is sent stood in `items`; `null` for one that was added. */
  readonly places: readonly (number | null)[]
  readonly notes: readonly Note[]
  readonly weights?: ItemSizes
  /** Who speaks to the upstream, and notes what it has no word for. */
  readonly wire: string
}

export function deriveItemDispositions(all: DispositionInput): readonly ItemDisposition[] {
  const { items, remembered, given = items.length, sent, places, notes, wire } = all
  const weights = all.weights ?? measureItems(all)
  const ofItem = notesByPlace(notes)
  const additions = notes.filter(({ did, by, field }) => isAddition(did, by, field))
  // Where in what is sent each stands, and what was added behind which.
  const sentAt = items.map(() => NOWHERE)
  const behind = new Map<number, number[]>()
  let last = -1
  sent.forEach((_, at) => {
    const place = places[at] ?? null
    if (place === null) behind.set(last, [...(behind.get(last) ?? []), at])
    else {
      sentAt[place] = at
      last = place
    }
  })
  const added = (place: number): readonly ItemDisposition[] =>
    (behind.get(place) ?? []).flatMap((at) => {
      const item = sent[at]
      if (item === undefined) return []
      // Layers stand among what others have added, each note of theirs in its order.
      const isOfLayer = readItemLayer(item) !== null
      const used = additions.findIndex(({ by }) => (by === LAYER_TRANSFORM_NAME) === isOfLayer)
      const [note] = used < 0 ? [] : additions.splice(used, 1)
      const notes = note === undefined ? NO_NOTES : [note]
      const size = weights.sent[at] ?? ZERO_SIZE
      return fateOfItem(item, { size, notes, place: null, from: 'gateway', fate: 'added' })
    })
  const fates = [...added(-1)]
  items.forEach((item, place) => {
    const own = ofItem.get(place) ?? NO_NOTES
    const at = sentAt[place] ?? NOWHERE
    const now = sent[at] ?? null
    const whole = weights.given[place] ?? ZERO_SIZE
    const size = weights.sent[at] ?? whole
    const givenBytes = now === null || now === item ? undefined : whole.bytes
    const isMemory = place < remembered || own.some(({ why }) => why === 'recalled')
    const fate = fateOf(item, now, own, wire)
    const from = place >= given ? 'answer' : isMemory ? 'memory' : 'request'
    fates.push(fateOfItem(item, { size, givenBytes, notes: own, place, from, fate }))
    if (behind.has(place)) fates.push(...added(place))
  })
  return fates
}

const NOWHERE = -1
const NO_NOTES: readonly Note[] = []

function isAddition(did: Note['did'], by: string | undefined, field: string | undefined): boolean {
  return did === 'added' && !isOfRecall(by) && field === undefined
}

/** What is remembered is put in its place before any transform, and its notes have no author. */
function isOfRecall(by: string | undefined): boolean {
  return by === undefined || by === 'recall'
}

/** Of what recall left out there is no item in the list, and its note stands at the next one. */
function notesByPlace(notes: readonly Note[]): ReadonlyMap<number, readonly Note[]> {
  const byPlace = new Map<number, Note[]>()
  for (const note of notes) {
    const { at, by, did, field, why } = note
    if (at === undefined || field !== undefined) continue
    if (isOfRecall(by) && (did === 'dropped' || why === 'reasoning-replaced')) continue
    const there = byPlace.get(at)
    if (there === undefined) byPlace.set(at, [note])
    else there.push(note)
  }
  return byPlace
}

function fateOf(
  item: Item,
  now: Item | null,
  notes: readonly Note[],
  wire: string,
): ItemDisposition['fate'] {
  if (now === null) return 'dropped'
  const did = (what: Note['did']): boolean => notes.some((note) => note.did === what)
  // A wire that has no word for a part of a message sends the rest of it.
  const isUnsaid = notes.some((note) => note.did === 'dropped' && note.by === wire)
  if (isUnsaid) return item.type === 'message' ? 'changed' : 'dropped'
  if (notes.some(({ why }) => why === 'recalled')) return 'added'
  if (now !== item || did('changed')) return 'changed'
  return did('moved') ? 'moved' : 'sent'
}

/** What became of an item: where it stood, whose it is, how it was sent, and why so. */
interface Became extends Pick<ItemDisposition, 'place' | 'from' | 'fate'> {
  readonly size: Size
  readonly givenBytes?: number | undefined
  readonly notes: readonly Note[]
}

/** Every one has the same fields in the same order: there are many, and each is written as JSON. */
function fateOfItem(item: Item, became: Became): ItemDisposition {
  const { size, givenBytes, notes, place, from, fate } = became
  const isMessage = item.type === 'message'
  const author = isMessage ? readChatOnlyFields(item)['name'] : undefined
  return {
    type: typeOf(item),
    role: isMessage ? item.role : undefined,
    author: typeof author === 'string' ? author : undefined,
    preview: previewItem(item),
    bytes: size.bytes,
    tokens: size.tokens,
    given_bytes: givenBytes,
    place,
    from,
    fate,
    notes: notes.length === 0 ? undefined : notes.map(told),
  }
}

function typeOf(item: Item): string {
  const raw = item.type === 'opaque' ? item.raw['type'] : null
  return typeof raw === 'string' ? raw : item.type
}

function told({ did, why, by, detail }: Note): DispositionNote {
  return {
    did,
    why,
    ...(by === undefined ? {} : { by }),
    ...(detail === undefined ? {} : { detail }),
  }
}
