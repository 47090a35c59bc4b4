/**
 * Makes a list valid for providers, which reject a call without an output, an output without a call, and reasoning
 * without the item that it led to. In the result each call has exactly one output, directly after the calls that were
 * made together (their batch).
 *
 * Calls without an output and outputs without a call are dropped. An output in the wrong position is moved to its
 * batch. If a call and its output come twice, once from the client and once from the store, they are sent once.
 *
 * Calls of the last batch stay without outputs if no message follows, because they still wait for them. If the client
 * has forgotten the outputs, the provider reports that.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../core/items/tool-call-pairs.ts'
import { createStubOutput } from './stub-missing-outputs.ts'
import { findCopiesOfCalls } from './find-copies-of-calls.ts'
import { certainlyNeedsNoPruning } from './certainly-needs-no-pruning.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

/**
 * Returns the transform. With `stub`, it keeps a call in the middle of the list that never got an output, so that
 * `stubMissingOutputs` can add one. With `drop`, it drops the call.
 */
export function pruneOrphans(unansweredCalls: 'drop' | 'stub' = 'drop'): Transform {
  return {
    name: 'prune-orphans',
    requiredTraits: ITEM_TRAITS.modelItem,
    prefixChanges: 'permanent',
    run(items) {
      if (certainlyNeedsNoPruning(items)) return { items, notes: [] }
      const kinds = items.map(classifyItem)
      const partners = findToolCallPairs(items)
      const dropped = findDroppedEnds(items, kinds, partners, unansweredCalls === 'stub')
      const order = dropStrayReasoning(kinds, dropped, moveOutputsToCalls(kinds, partners, dropped))
      const notes = createNotes(items, order, dropped)
      return notes.length === 0
        ? { items, notes }
        : { items: order.flatMap((index) => items[index] ?? []), notes }
    },
  }
}

/**
 * The kind of an item, as far as it matters for pruning. `hosted`: any other model item, e.g. the provider's web
 * search.
 */
type ItemKind = 'call' | 'output' | 'reasoning' | 'hosted' | 'assistant' | 'other-message'

function classifyItem(item: Item): ItemKind {
  if (item.type === 'message') return item.role === 'assistant' ? 'assistant' : 'other-message'
  if (item.type === 'reasoning') return 'reasoning'
  return readToolCallIdentity(item)?.side ?? 'hosted'
}

/** The code of the note for each dropped call or output, by its index. */
type DroppedEnds = ReadonlyMap<number, string>

function findDroppedEnds(
  items: readonly Item[],
  kinds: readonly ItemKind[],
  partners: Int32Array,
  keepsForStubs: boolean,
): DroppedEnds {
  const dropped = new Map<number, string>()
  for (const index of findCopiesOfCalls(items, partners)) dropped.set(index, 'pair-duplicate')
  if (
    kinds.every(
      (kind, index) => (kind !== 'call' && kind !== 'output') || partners[index] !== UNPAIRED,
    )
  )
    return dropped
  const unanswered: number[] = []
  // The ids of calls that have an output, between the current index and the next message (the loop runs backward).
  const answeredIds = new Set<string>()
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index]
    const kind = kinds[index]
    if (kind === 'assistant' || kind === 'other-message') answeredIds.clear()
    if (item === undefined || dropped.has(index)) continue
    if (kind === 'output' && partners[index] === UNPAIRED) dropped.set(index, 'output-without-call')
    if (kind !== 'call') continue
    const { toolKind, callId } = readToolCallIdentity(item) ?? NO_IDENTITY
    const id = `${toolKind} ${callId}`
    if (partners[index] !== UNPAIRED) answeredIds.add(id)
    else if (callId === '') dropped.set(index, 'call-malformed')
    // The provider would assign the output of a later call with the same id to this call.
    else if (answeredIds.has(id)) dropped.set(index, 'call-without-output')
    else if (!keepsForStubs || createStubOutput(item) === null) unanswered.push(index)
  }
  if (unanswered.length === 0) return dropped
  const end = findOpenEnd(kinds, partners, dropped)
  for (const index of unanswered) if (index < end) dropped.set(index, 'call-without-output')
  return dropped
}

const NO_IDENTITY = { toolKind: '', callId: '' }

/**
 * Returns the index from which calls without outputs stay, because the client may still send the outputs: the start of
 * the last batch of calls after the last message.
 */
function findOpenEnd(
  kinds: readonly ItemKind[],
  partners: Int32Array,
  dropped: DroppedEnds,
): number {
  const start = kinds.findLastIndex((kind) => kind === 'assistant' || kind === 'other-message') + 1
  let hasCallAfter = false
  for (let index = kinds.length - 1; index >= start; index -= 1) {
    if (dropped.has(index)) continue
    const kind = kinds[index]
    if (kind === 'call' || kind === 'hosted') hasCallAfter = true
    // An output of a call before `start` does not count, because it is moved to that call.
    else if (hasCallAfter && kind === 'output' && (partners[index] ?? UNPAIRED) >= start)
      return index + 1
  }
  return start
}

/** Calls that the model made together, with reasoning and hosted items between them, and with their outputs. */
interface CallBatch {
  /** Index of the last item of the batch that is already in place; late outputs are inserted after it. */
  end: number
  hasOutput: boolean
  /**
   * True if reasoning follows `end`. The reasoning belongs to the batch only if another call or hosted item follows.
   */
  hasLooseReasoning: boolean
  /** The indexes of outputs of the batch that come too late in the list, and are moved to directly after `end`. */
  readonly late: number[]
}

/** Returns the indexes of the items that are not dropped, in the order in which they are sent. */
function moveOutputsToCalls(
  kinds: readonly ItemKind[],
  partners: Int32Array,
  dropped: DroppedEnds,
): readonly number[] {
  const batchOf = new Map<number, CallBatch>()
  const inPlace: number[] = []
  let batch: CallBatch | null = null
  for (let index = 0; index < kinds.length; index += 1) {
    const kind = kinds[index] as ItemKind
    if (dropped.has(index)) continue
    if (kind === 'output') {
      const callBatch: CallBatch | undefined = batchOf.get(partners[index] ?? UNPAIRED)
      if (callBatch === undefined) continue
      if (callBatch !== batch || callBatch.hasLooseReasoning) {
        callBatch.late.push(index)
        if (callBatch === batch) batch = null
        continue
      }
      callBatch.hasOutput = true
      callBatch.end = index
    } else {
      batch = continueBatch(kind, index, batch)
      if (kind === 'call' && batch !== null) batchOf.set(index, batch)
    }
    inPlace.push(index)
  }
  return insertLateOutputs(inPlace, batchOf)
}

/**
 * Returns the batch to which a call, reasoning or another item except an output belongs: `current`, or a new one for a
 * call. `null` if the item belongs to no batch, e.g. a message.
 */
function continueBatch(kind: ItemKind, index: number, current: CallBatch | null): CallBatch | null {
  const open = current?.hasOutput === true ? null : current
  if (kind === 'assistant' || kind === 'other-message') return null
  if (kind === 'call' && open === null) {
    return { end: index, hasOutput: false, hasLooseReasoning: false, late: [] }
  }
  if (open === null) return null
  open.hasLooseReasoning = kind === 'reasoning'
  if (kind !== 'reasoning') open.end = index
  return open
}

function insertLateOutputs(
  inPlace: readonly number[],
  batchOf: ReadonlyMap<number, CallBatch>,
): readonly number[] {
  const lateByEnd = new Map<number, readonly number[]>()
  for (const { end, late } of batchOf.values()) if (late.length > 0) lateByEnd.set(end, late)
  if (lateByEnd.size === 0) return inPlace
  return inPlace.flatMap((index) => [index, ...(lateByEnd.get(index) ?? [])])
}

/**
 * Drops reasoning that is not followed by a model item. Reasoning followed by further reasoning stays, unless a call
 * between them, to which the first reasoning led, was dropped.
 */
function dropStrayReasoning(
  kinds: readonly ItemKind[],
  dropped: DroppedEnds,
  order: readonly number[],
): readonly number[] {
  const group = numberGroups(kinds, dropped)
  const kept: number[] = []
  let next: number | null = null
  for (const index of order.toReversed()) {
    if (kinds[index] === 'reasoning') {
      const follower: ItemKind | undefined = next === null ? undefined : kinds[next]
      const leads =
        follower === 'reasoning'
          ? group[index] === group[next ?? index]
          : follower === 'call' || follower === 'hosted' || follower === 'assistant'
      if (!leads) continue
    }
    kept.push(index)
    next = index
  }
  return kept.toReversed()
}

/**
 * Numbers the stretches of the list: the number grows at each dropped call, so two items have the same number if no
 * dropped call is between them.
 */
function numberGroups(kinds: readonly ItemKind[], dropped: DroppedEnds): readonly number[] {
  let group = 0
  return kinds.map((kind, index) => {
    if (kind === 'call' && dropped.has(index)) group += 1
    return group
  })
}

function createNotes(
  items: readonly Item[],
  order: readonly number[],
  dropped: DroppedEnds,
): readonly Note[] {
  const kept = new Set(order)
  const moved = new Set<number>()
  let first = items.length
  // Only outputs are moved, and only toward the beginning. So an item was moved if an item with a smaller original index
  // comes after it.
  for (const index of order.toReversed()) {
    if (index > first) moved.add(index)
    first = Math.min(first, index)
  }
  return items.flatMap((_, index): readonly Note[] => {
    const why = dropped.get(index) ?? 'reasoning-without-follower'
    if (!kept.has(index)) return [{ did: 'dropped', at: index, why }]
    return moved.has(index) ? [{ did: 'moved', at: index, why: 'output-misplaced' }] : []
  })
}
