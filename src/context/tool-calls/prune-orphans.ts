/**
 * Makes a list valid for providers: each call has exactly one output, directly after the calls of the same
 * batch, and reasoning is followed by a model item of its group. Providers reject a prompt with half of such
 * a group, or with another item in the middle of it.
 *
 * Calls without an output and outputs without a call are dropped. An output in the wrong position is moved to its
 * calls. A pair that comes twice, once from the client and once from the store, is sent once.
 *
 * Calls in the last batch, with no message after it, still wait for their outputs and stay. If the client sent
 * the request too early, the provider reports that.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../core/items/tool-call-pairs.ts'
import { createStubOutput } from './stub-missing-outputs.ts'
import { findDuplicateCalls } from './find-duplicate-calls.ts'
import { hasValidItemOrder } from './has-valid-item-order.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export interface OrphanPruningOptions {
  /** `stub`: a call in the middle without an output stays for `stubMissingOutputs`. `drop`: it is dropped. */
  readonly unanswered?: 'drop' | 'stub'
}

export function pruneOrphans({ unanswered = 'drop' }: OrphanPruningOptions = {}): Transform {
  return {
    name: 'prune-orphans',
    needs: ITEM_TRAITS.modelItem,
    prefixStability: 'lasting',
    run(items) {
      if (hasValidItemOrder(items)) return { items, notes: [] }
      const kinds = items.map(classifyItem)
      const partners = findToolCallPairs(items)
      const dropped = findDroppedEnds({ items, kinds, partners }, unanswered === 'stub')
      const order = dropStrayReasoning(kinds, dropped, moveOutputsToCalls(kinds, partners, dropped))
      const notes = createNotes(items, order, dropped)
      return notes.length === 0
        ? { items, notes }
        : { items: order.flatMap((at) => items[at] ?? []), notes }
    },
  }
}

/** The role of an item in its group. `hosted`: any other model item, e.g. a web search. */
type ItemKind = 'call' | 'output' | 'reasoning' | 'hosted' | 'assistant' | 'other-message'

function classifyItem(item: Item): ItemKind {
  if (item.type === 'message') return item.role === 'assistant' ? 'assistant' : 'other-message'
  if (item.type === 'reasoning') return 'reasoning'
  return readToolCallIdentity(item)?.side ?? 'hosted'
}

interface PairedItems {
  readonly items: readonly Item[]
  readonly kinds: readonly ItemKind[]
  readonly partners: Int32Array
}

/** The dropped calls and outputs by index, with the code of the note. */
type DroppedEnds = ReadonlyMap<number, string>

function findDroppedEnds(
  { items, kinds, partners }: PairedItems,
  keepsForStubs: boolean,
): DroppedEnds {
  const dropped = new Map<number, string>()
  for (const at of findDuplicateCalls(items, partners)) dropped.set(at, 'pair-duplicate')
  if (
    kinds.every((kind, at) => (kind !== 'call' && kind !== 'output') || partners[at] !== UNPAIRED)
  )
    return dropped
  const unanswered: number[] = []
  // Ids of the calls with an output between this index and the next message.
  const answeredIds = new Set<string>()
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at]
    const kind = kinds[at]
    if (kind === 'assistant' || kind === 'other-message') answeredIds.clear()
    if (item === undefined || dropped.has(at)) continue
    if (kind === 'output' && partners[at] === UNPAIRED) dropped.set(at, 'output-without-call')
    if (kind !== 'call') continue
    const { toolKind, callId } = readToolCallIdentity(item) ?? NO_IDENTITY
    const id = `${toolKind} ${callId}`
    if (partners[at] !== UNPAIRED) answeredIds.add(id)
    else if (callId === '') dropped.set(at, 'call-malformed')
    // The provider would assign the output of the later call with the same id to this one.
    else if (answeredIds.has(id)) dropped.set(at, 'call-without-output')
    else if (!keepsForStubs || createStubOutput(item) === null) unanswered.push(at)
  }
  if (unanswered.length === 0) return dropped
  const end = findOpenEnd(kinds, partners, dropped)
  for (const at of unanswered) if (at < end) dropped.set(at, 'call-without-output')
  return dropped
}

const NO_IDENTITY = { toolKind: '', callId: '' }

/** Returns the start of the last batch after the last message. */
function findOpenEnd(
  kinds: readonly ItemKind[],
  partners: Int32Array,
  dropped: DroppedEnds,
): number {
  const start = kinds.findLastIndex((kind) => kind === 'assistant' || kind === 'other-message') + 1
  let hasCallAfter = false
  for (let at = kinds.length - 1; at >= start; at -= 1) {
    if (dropped.has(at)) continue
    const kind = kinds[at]
    if (kind === 'call' || kind === 'hosted') hasCallAfter = true
    // An output of a call before `start` does not count, because it is moved there.
    else if (hasCallAfter && kind === 'output' && (partners[at] ?? UNPAIRED) >= start) return at + 1
  }
  return start
}

/** Calls that the model made together, from the first to the last call or hosted item, and their outputs. */
interface CallBatch {
  /** The index of the last item in the right position. */
  end: number
  hasOutput: boolean
  /** True if reasoning follows `end`. It belongs to the batch if another call or hosted item follows. */
  hasLooseReasoning: boolean
  /** The indexes of outputs that must be moved after `end`. */
  readonly late: number[]
}

/** Returns the indexes of all items that are not dropped, in the order in which they are sent. */
function moveOutputsToCalls(
  kinds: readonly ItemKind[],
  partners: Int32Array,
  dropped: DroppedEnds,
): readonly number[] {
  const batchOf = new Map<number, CallBatch>()
  const inPlace: number[] = []
  let batch: CallBatch | null = null
  for (let at = 0; at < kinds.length; at += 1) {
    const kind = kinds[at] as ItemKind
    if (dropped.has(at)) continue
    if (kind === 'output') {
      const callBatch: CallBatch | undefined = batchOf.get(partners[at] ?? UNPAIRED)
      if (callBatch === undefined) continue
      if (callBatch !== batch || callBatch.hasLooseReasoning) {
        callBatch.late.push(at)
        if (callBatch === batch) batch = null
        continue
      }
      callBatch.hasOutput = true
      callBatch.end = at
    } else {
      batch = continueBatch(kind, at, batch)
      if (kind === 'call' && batch !== null) batchOf.set(at, batch)
    }
    inPlace.push(at)
  }
  return insertLateOutputs(inPlace, batchOf)
}

/** Returns the batch that this item, which is no output, belongs to; `null` if it belongs to none. */
function continueBatch(kind: ItemKind, at: number, current: CallBatch | null): CallBatch | null {
  const open = current?.hasOutput === true ? null : current
  if (kind === 'assistant' || kind === 'other-message') return null
  if (kind === 'call' && open === null) {
    return { end: at, hasOutput: false, hasLooseReasoning: false, late: [] }
  }
  if (open === null) return null
  open.hasLooseReasoning = kind === 'reasoning'
  if (kind !== 'reasoning') open.end = at
  return open
}

function insertLateOutputs(
  inPlace: readonly number[],
  batchOf: ReadonlyMap<number, CallBatch>,
): readonly number[] {
  const lateByEnd = new Map<number, readonly number[]>()
  for (const { end, late } of batchOf.values()) if (late.length > 0) lateByEnd.set(end, late)
  if (lateByEnd.size === 0) return inPlace
  return inPlace.flatMap((at) => [at, ...(lateByEnd.get(at) ?? [])])
}

/**
 * Drops reasoning that is not followed by a model item. If the call after it was dropped, another item of the
 * group suffices, but not the reasoning of the next group.
 */
function dropStrayReasoning(
  kinds: readonly ItemKind[],
  dropped: DroppedEnds,
  order: readonly number[],
): readonly number[] {
  const group = numberGroups(kinds, dropped)
  const kept: number[] = []
  let next: number | null = null
  for (const at of order.toReversed()) {
    if (kinds[at] === 'reasoning') {
      const follower: ItemKind | undefined = next === null ? undefined : kinds[next]
      const leads =
        follower === 'reasoning'
          ? group[at] === group[next ?? at]
          : follower === 'call' || follower === 'hosted' || follower === 'assistant'
      if (!leads) continue
    }
    kept.push(at)
    next = at
  }
  return kept.toReversed()
}

/** Numbers the items; the number grows at each dropped call. */
function numberGroups(kinds: readonly ItemKind[], dropped: DroppedEnds): readonly number[] {
  let group = 0
  return kinds.map((kind, at) => {
    if (kind === 'call' && dropped.has(at)) group += 1
    return group
  })
}

function createNotes(
  items: readonly Item[],
  order: readonly number[],
  dropped: DroppedEnds,
): readonly Note[] {
  const isKept = new Uint8Array(items.length)
  const isMoved = new Uint8Array(items.length)
  let first = items.length
  // Only outputs are moved, and only toward the beginning, so a moved item has a smaller index after it.
  for (const at of order.toReversed()) {
    isKept[at] = 1
    if (at > first) isMoved[at] = 1
    first = Math.min(first, at)
  }
  const notes: Note[] = []
  for (let at = 0; at < items.length; at += 1) {
    if (isKept[at] === 0) {
      notes.push({ did: 'dropped', at, why: dropped.get(at) ?? 'reasoning-without-follower' })
    } else if (isMoved[at] === 1) notes.push({ did: 'moved', at, why: 'output-misplaced' })
  }
  return notes
}
