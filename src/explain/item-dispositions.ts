/**
 * Derives what happened to each item of the history and the request: its fate is sent, changed, dropped or
 * moved. Items that the gateway inserted have the fate `added`. The fates are derived from the item lists
 * before and after the transforms, and from the notes of the transforms.
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
  /** Origin of the item. `answer`: an earlier tool round of the same answer; `memory`: the history. */
  readonly from: 'request' | 'memory' | 'answer' | 'gateway'
  readonly preview: string
  readonly fate: 'sent' | 'changed' | 'dropped' | 'moved' | 'added'
  /** Bytes as sent; for a dropped item, bytes of the original. */
  readonly bytes: number
  /** Estimated tokens, not corrected by the provider's counts. */
  readonly tokens: number
  /** Original bytes of a changed item. */
  readonly given_bytes?: number | undefined
  readonly notes?: readonly DispositionNote[] | undefined
}

export type DispositionNote = Pick<Note, 'did' | 'why' | 'by' | 'detail'>

export interface DispositionInput extends ItemLists {
  /** Number of items from the history. */
  readonly historyCount: number
  /** Number of items from history and client; the rest is from earlier tool rounds. Default: all. */
  readonly initialCount?: number
  readonly notes: readonly Note[]
  readonly sizes?: ItemSizes
  /** Name of the upstream's wire, e.g. `responses`: the `by` of notes about items that it cannot encode. */
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
  // `sentIndexes`: for each item, its index in `sentItems`. `addedAfter`: for an item's index, the indexes
  // in `sentItems` of the inserted items that follow it.
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
      // The first inserted item gets the first `added` note, etc.; memory layers have notes of their own.
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
    const fate = deriveFate(item, sentItem, notes, wire)
    const from = place >= initialCount ? 'answer' : isMemory ? 'memory' : 'request'
    const disposition = describeItem(item, { size, originalBytes, notes, place, from, fate })
    dispositions.push(disposition, ...describeAddedAfter(place))
  })
  return dispositions
}

const NOT_SENT = -1
const NO_NOTES: readonly Note[] = []

/** True if recall wrote the note. Recall restores recorded items before any transform, often without a `by`. */
function isRecall(by: string | undefined): boolean {
  return by === undefined || by === 'recall'
}

/**
 * Groups notes by item index. Skips notes about an item that recall removed: the item is not in the list
 * any more, so the `at` of the note is the index of the next item.
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
  // The encoder omits only the unsupported part of a message, but it omits other items completely.
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
 * Builds the disposition of an item. The fields are always the same and in the same order, which makes
 * serializing a long list faster.
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
