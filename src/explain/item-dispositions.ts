/**
 * Derives the fate of each item of the history and the request (sent, changed, dropped, moved), and of
 * each item that the gateway inserted (added). The fates follow from the lists before and after the
 * transforms, and from their notes.
 */
import { readChatOnlyFields } from '../core/items/chat-only-fields.ts'
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import { readItemLayer, LAYER_TRANSFORM_NAME } from '../memory/insert-layer-blocks.ts'
import { previewItem } from './item-preview.ts'
import { ZERO_SIZE, measureItems, type Size, type ItemSizes } from './item-size.ts'

export interface ItemDisposition {
  /** Index in the combined list of history and request items; null for an inserted item. */
  readonly place: number | null
  readonly type: string
  readonly role?: string | undefined
  readonly author?: string | undefined
  /** `answer`: generated earlier in the same answer, before a later tool round. */
  readonly from: 'request' | 'memory' | 'answer' | 'gateway'
  readonly preview: string
  readonly fate: 'sent' | 'changed' | 'dropped' | 'moved' | 'added'
  /** Size as sent; for a dropped item its original size. */
  readonly bytes: number
  /** Estimated tokens, without the correction factor that is learned from the provider's counts. */
  readonly tokens: number
  /** Original size of a changed item. */
  readonly given_bytes?: number | undefined
  readonly notes?: readonly DispositionNote[] | undefined
}

export type DispositionNote = Pick<Note, 'did' | 'why' | 'by' | 'detail'>

export interface DispositionInput {
  readonly items: readonly Item[]
  /** Number of items from the history. */
  readonly remembered: number
  /** Number of items from history and client; the rest was generated in earlier tool rounds. Default: all. */
  readonly given?: number
  readonly sent: readonly Item[]
  /** Index in `items` of each sent item; null for an inserted one. */
  readonly places: readonly (number | null)[]
  readonly notes: readonly Note[]
  readonly weights?: ItemSizes
  /** Wire of the upstream, e.g. `responses`, which adds notes about items that it cannot encode. */
  readonly wire: string
}

export function deriveItemDispositions(input: DispositionInput): readonly ItemDisposition[] {
  const { items, remembered, given = items.length, sent, places, notes, wire } = input
  const weights = input.weights ?? measureItems(input)
  const itemNotes = groupNotesByItem(notes)
  const additions = notes.filter(({ did, by, field }) => isAddition(did, by, field))
  // `sentIndexes`: position of each item in `sent`. `addedAfter`: by an item's index, the positions of
  // the inserted items after it.
  const sentIndexes = items.map(() => NOT_SENT)
  const addedAfter = new Map<number, number[]>()
  let last = -1
  sent.forEach((_, index) => {
    const place = places[index] ?? null
    if (place === null) addedAfter.set(last, [...(addedAfter.get(last) ?? []), index])
    else {
      sentIndexes[place] = index
      last = place
    }
  })
  const describeAddedAfter = (place: number): readonly ItemDisposition[] =>
    (addedAfter.get(place) ?? []).flatMap((index) => {
      const item = sent[index]
      if (item === undefined) return []
      // Inserted items are matched with `added` notes in order, those of memory layers separately.
      const isOfLayer = readItemLayer(item) !== null
      const next = additions.findIndex(({ by }) => (by === LAYER_TRANSFORM_NAME) === isOfLayer)
      const [note] = next < 0 ? [] : additions.splice(next, 1)
      const notes = note === undefined ? NO_NOTES : [note]
      const size = weights.sent[index] ?? ZERO_SIZE
      return describeItem(item, { size, notes, place: null, from: 'gateway', fate: 'added' })
    })
  const dispositions = [...describeAddedAfter(-1)]
  items.forEach((item, place) => {
    const notes = itemNotes.get(place) ?? NO_NOTES
    const index = sentIndexes[place] ?? NOT_SENT
    const sentItem = sent[index] ?? null
    const original = weights.given[place] ?? ZERO_SIZE
    const size = weights.sent[index] ?? original
    const givenBytes = sentItem === null || sentItem === item ? undefined : original.bytes
    const isMemory = place < remembered || notes.some(({ why }) => why === 'recalled')
    const fate = deriveFate(item, sentItem, notes, wire)
    const from = place >= given ? 'answer' : isMemory ? 'memory' : 'request'
    dispositions.push(describeItem(item, { size, givenBytes, notes, place, from, fate }))
    if (addedAfter.has(place)) dispositions.push(...describeAddedAfter(place))
  })
  return dispositions
}

const NOT_SENT = -1
const NO_NOTES: readonly Note[] = []

function isAddition(did: Note['did'], by: string | undefined, field: string | undefined): boolean {
  return did === 'added' && !isRecall(by) && field === undefined
}

/** True if recall wrote the note: it restores recorded items before any transform, mostly without a `by`. */
function isRecall(by: string | undefined): boolean {
  return by === undefined || by === 'recall'
}

/**
 * Groups notes by item. Notes about an item that recall removed are skipped: the item is not in the
 * list any more, so `at` points to the item after it.
 */
function groupNotesByItem(notes: readonly Note[]): ReadonlyMap<number, readonly Note[]> {
  const groups = new Map<number, Note[]>()
  for (const note of notes) {
    const { at, by, did, field, why } = note
    if (at === undefined || field !== undefined) continue
    if (isRecall(by) && (did === 'dropped' || why === 'reasoning-replaced')) continue
    const group = groups.get(at)
    if (group === undefined) groups.set(at, [note])
    else group.push(note)
  }
  return groups
}

function deriveFate(
  item: Item,
  sentItem: Item | null,
  notes: readonly Note[],
  wire: string,
): ItemDisposition['fate'] {
  if (sentItem === null) return 'dropped'
  const hasNote = (did: Note['did']): boolean => notes.some((note) => note.did === did)
  // A wire omits only the unsupported part of a message, but other items completely.
  const isOmittedByWire = notes.some((note) => note.did === 'dropped' && note.by === wire)
  if (isOmittedByWire) return item.type === 'message' ? 'changed' : 'dropped'
  if (notes.some(({ why }) => why === 'recalled')) return 'added'
  if (sentItem !== item || hasNote('changed')) return 'changed'
  return hasNote('moved') ? 'moved' : 'sent'
}

interface DispositionFields extends Pick<ItemDisposition, 'place' | 'from' | 'fate'> {
  readonly size: Size
  readonly givenBytes?: number | undefined
  readonly notes: readonly Note[]
}

/**
 * Builds the disposition of an item, always with the same fields in the same order: serializing a long
 * list is then faster.
 */
function describeItem(
  item: Item,
  { size, givenBytes, notes, place, from, fate }: DispositionFields,
): ItemDisposition {
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
    notes: notes.length === 0 ? undefined : notes.map(toDispositionNote),
  }
}

function typeOf(item: Item): string {
  const raw = item.type === 'opaque' ? item.raw['type'] : null
  return typeof raw === 'string' ? raw : item.type
}

function toDispositionNote({ did, why, by, detail }: Note): DispositionNote {
  return {
    did,
    why,
    ...(by === undefined ? {} : { by }),
    ...(detail === undefined ? {} : { detail }),
  }
}
