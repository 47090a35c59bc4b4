/**
 * Derives the disposition of each item, from the item lists before and after the transforms and from their
 * notes. Items of the history and the request are sent, changed, dropped or moved (stored as `fate`). Items
 * that the gateway inserted are `added`.
 */
import { readChatOnlyFields } from '../core/items/chat-only-fields.ts'
import type { Item } from '../core/item.ts'
import type { Note } from '../core/note.ts'
import { readItemLayer, LAYER_TRANSFORM_NAME } from '../memory/insert-layer-blocks.ts'
import { previewItem } from './item-preview.ts'
import { ZERO_SIZE, measureItems, type Size, type ItemLists, type ItemSizes } from './item-size.ts'

export interface ItemDisposition {
  /** Index in the list of history and request items; null for an inserted item. */
  readonly place: number | null
  readonly type: string
  readonly role?: string | undefined
  readonly author?: string | undefined
  /**
   * Source of the item. `memory`: the history, or restored by recall; `answer`: an earlier tool round of
   * the answer; `gateway`: inserted by the gateway.
   */
  readonly from: 'request' | 'memory' | 'answer' | 'gateway'
  readonly preview: string
  readonly fate: 'sent' | 'changed' | 'dropped' | 'moved' | 'added'
  /** Size in the request; for a dropped item, its original size. */
  readonly bytes: number
  /** Estimated tokens, not corrected by the token counts of the provider. */
  readonly tokens: number
  /** Original size of a changed item; undefined for other items. */
  readonly given_bytes?: number | undefined
  readonly notes?: readonly DispositionNote[] | undefined
}

export type DispositionNote = Pick<Note, 'did' | 'why' | 'by' | 'detail'>

export interface DispositionInput extends ItemLists {
  /** Number of items from the history. */
  readonly historyCount: number
  /**
   * Number of items from the history and the client. The other items are from earlier tool rounds of the
   * answer. Default: all items.
   */
  readonly initialCount?: number
  readonly notes: readonly Note[]
  readonly sizes?: ItemSizes
  /**
   * Name of the upstream's wire, e.g. `responses`. It is the `by` of notes about items that the wire cannot
   * encode.
   */
  readonly wire: string
}

export function deriveItemDispositions(input: DispositionInput): readonly ItemDisposition[] {
  const {
    items,
    historyCount,
    initialCount = items.length,
    sentItems,
    originalPositions,
    notes,
    wire,
  } = input
  const sizes = input.sizes ?? measureItems(input)
  const itemNotes = groupNotesByItem(notes)
  const additions = notes.filter(
    ({ did, by, field }) => did === 'added' && !isRecall(by) && field === undefined,
  )
  // `sentIndexes`: index in `sentItems` for each item. `addedAfter`: for the index of an item (-1: the
  // start), the indexes in `sentItems` of the inserted items that follow it.
  const sentIndexes = items.map(() => NOT_SENT)
  const addedAfter = new Map<number, number[]>()
  let last = -1
  sentItems.forEach((_, index) => {
    const place = originalPositions[index] ?? null
    if (place === null) addedAfter.set(last, [...(addedAfter.get(last) ?? []), index])
    else {
      sentIndexes[place] = index
      last = place
    }
  })
  const describeAddedAfter = (place: number): readonly ItemDisposition[] =>
    (addedAfter.get(place) ?? []).flatMap((index) => {
      const item = sentItems[index]
      if (item === undefined) return []
      // Inserted items have no index in their notes, so the first one gets the first `added` note, etc.
      // Memory layers have notes of their own.
      const isLayer = readItemLayer(item) !== null
      const next = additions.findIndex(({ by }) => (by === LAYER_TRANSFORM_NAME) === isLayer)
      const [note] = next < 0 ? [] : additions.splice(next, 1)
      const notes = note === undefined ? NO_NOTES : [note]
      const size = sizes.sent[index] ?? ZERO_SIZE
      return describeItem(item, { size, notes, place: null, from: 'gateway', fate: 'added' })
    })
  const dispositions = [...describeAddedAfter(-1)]
  items.forEach((item, place) => {
    const notes = itemNotes.get(place) ?? NO_NOTES
    const index = sentIndexes[place] ?? NOT_SENT
    const sentItem = sentItems[index] ?? null
    const original = sizes.original[place] ?? ZERO_SIZE
    const size = sizes.sent[index] ?? original
    const originalBytes = sentItem === null || sentItem === item ? undefined : original.bytes
    const isMemory = place < historyCount || notes.some(({ why }) => why === 'recalled')
    const fate = classifyDisposition(item, sentItem, notes, wire)
    const from = place >= initialCount ? 'answer' : isMemory ? 'memory' : 'request'
    const disposition = describeItem(item, { size, originalBytes, notes, place, from, fate })
    dispositions.push(disposition, ...describeAddedAfter(place))
  })
  return dispositions
}

const NOT_SENT = -1
const NO_NOTES: readonly Note[] = []

/** True if recall wrote the note. Notes of recall often lack `by`, unlike those of transforms. */
function isRecall(by: string | undefined): boolean {
  return by === undefined || by === 'recall'
}

/**
 * Groups notes by the index of their item. Skips notes about an item that recall removed: it is not in the
 * list any more, so the `at` of the note is the index of the item after it.
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

function classifyDisposition(
  item: Item,
  sentItem: Item | null,
  notes: readonly Note[],
  wire: string,
): ItemDisposition['fate'] {
  if (sentItem === null) return 'dropped'
  const hasNote = (did: Note['did']): boolean => notes.some((note) => note.did === did)
  // The encoder omits only the unsupported parts of a message, but it omits items of other types
  // completely.
  const isOmittedByWire = notes.some((note) => note.did === 'dropped' && note.by === wire)
  if (isOmittedByWire) return item.type === 'message' ? 'changed' : 'dropped'
  if (notes.some(({ why }) => why === 'recalled')) return 'added'
  if (sentItem !== item || hasNote('changed')) return 'changed'
  return hasNote('moved') ? 'moved' : 'sent'
}

interface DispositionFields extends Pick<ItemDisposition, 'place' | 'from' | 'fate'> {
  readonly size: Size
  readonly originalBytes?: number | undefined
  readonly notes: readonly Note[]
}

/**
 * Builds the disposition of an item. The fields always have the same order, which makes serializing a long
 * list faster.
 */
function describeItem(
  item: Item,
  { size, originalBytes, notes, place, from, fate }: DispositionFields,
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
    given_bytes: originalBytes,
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
