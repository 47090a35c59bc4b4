/**
 * What became of each item of a conversation: what was given and what was remembered, in order, with
 * what was added in between. Told from the list before and after, and from the notes of whoever
 * changed it; nothing is guessed.
 */
import { chatNative } from '../conversation/chat-native.ts'
import type { Item } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import { layerOf, PLACE_LAYERS } from '../layers/place-layers.ts'
import { previewOf } from './preview.ts'
import { weightOf } from './weight-of.ts'

export interface Fate {
  /** In everything that the request and its history make up; `null` for what was added to it. */
  readonly place: number | null
  readonly type: string
  readonly role?: string
  readonly author?: string
  /** Said in the answer itself, for one that is told of a later round. */
  readonly from: 'request' | 'memory' | 'answer' | 'gateway'
  readonly preview: string
  readonly fate: 'sent' | 'changed' | 'dropped' | 'moved' | 'added'
  /** As it was sent, or as it would have been. */
  readonly bytes: number
  /** By estimate, which the provider has not set right. */
  readonly tokens: number
  /** As large as it was, if it was changed. */
  readonly given_bytes?: number
  readonly notes?: readonly FateNote[]
}

export type FateNote = Pick<Note, 'did' | 'why' | 'by' | 'detail'>

export interface Told {
  readonly items: readonly Item[]
  /** How many of them the history brought. */
  readonly remembered: number
  /** How many of them its client or the history brought; all, without a word. */
  readonly given?: number
  readonly sent: readonly Item[]
  /** Where each that is sent stood in `items`; `null` for one that was added. */
  readonly places: readonly (number | null)[]
  readonly notes: readonly Note[]
  /** Who speaks to the upstream, and notes what it has no word for. */
  readonly wire: string
}

export function fatesOf(all: Told): readonly Fate[] {
  const { items, remembered, given = items.length, sent, places, notes, wire } = all
  const ofItem = notesByPlace(notes)
  const additions = notes.filter(({ did, by, field }) => isAddition(did, by, field))
  const sentAt: (Item | undefined)[] = items.map(() => undefined)
  const behind = new Map<number, Item[]>()
  let last = -1
  sent.forEach((item, at) => {
    const place = places[at] ?? null
    if (place === null) behind.set(last, [...(behind.get(last) ?? []), item])
    else {
      sentAt[place] = item
      last = place
    }
  })
  const added = (at: number): readonly Fate[] =>
    (behind.get(at) ?? []).map((item) => {
      // Layers stand among what others have added, each note of theirs in its order.
      const isOfLayer = layerOf(item) !== null
      const used = additions.findIndex(({ by }) => (by === PLACE_LAYERS) === isOfLayer)
      const [note] = used < 0 ? [] : additions.splice(used, 1)
      const fate = { place: null, from: 'gateway', fate: 'added' } as const
      return { ...seen(item, item), ...fate, ...told(note === undefined ? [] : [note]) }
    })
  const fates = [...added(-1)]
  items.forEach((item, place) => {
    const own = ofItem.get(place) ?? NO_NOTES
    const now = sentAt[place] ?? null
    const isMemory = place < remembered || own.some(({ why }) => why === 'recalled')
    const fate = fateOf(item, now, own, wire)
    const from = place >= given ? 'answer' : isMemory ? 'memory' : 'request'
    const size = now === null || now === item ? {} : { given_bytes: weightOf(item).bytes }
    fates.push({ ...seen(item, now ?? item), ...size, place, from, fate, ...told(own) })
    if (behind.has(place)) fates.push(...added(place))
  })
  return fates
}

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

function fateOf(item: Item, now: Item | null, notes: readonly Note[], wire: string): Fate['fate'] {
  if (now === null) return 'dropped'
  const did = (what: Note['did']): boolean => notes.some((note) => note.did === what)
  // A wire that has no word for a part of a message sends the rest of it.
  const isUnsaid = notes.some((note) => note.did === 'dropped' && note.by === wire)
  if (isUnsaid) return item.type === 'message' ? 'changed' : 'dropped'
  if (notes.some(({ why }) => why === 'recalled')) return 'added'
  if (now !== item || did('changed')) return 'changed'
  return did('moved') ? 'moved' : 'sent'
}

type Seen = Pick<Fate, 'type' | 'role' | 'author' | 'preview' | 'bytes' | 'tokens'>

function seen(item: Item, sent: Item): Seen {
  const preview = previewOf(item)
  const { bytes, tokens } = weightOf(sent)
  if (item.type !== 'message') {
    const raw = item.type === 'opaque' ? item.raw['type'] : null
    return { type: typeof raw === 'string' ? raw : item.type, preview, bytes, tokens }
  }
  const { type, role } = item
  const author = chatNative(item)['name']
  return typeof author === 'string'
    ? { type, role, author, preview, bytes, tokens }
    : { type, role, preview, bytes, tokens }
}

function told(notes: readonly Note[]): Pick<Fate, 'notes'> {
  if (notes.length === 0) return {}
  return {
    notes: notes.map(({ did, why, by, detail }) => ({
      did,
      why,
      ...(by === undefined ? {} : { by }),
      ...(detail === undefined ? {} : { detail }),
    })),
  }
}
