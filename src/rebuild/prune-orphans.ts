/**
 * Makes a list lawful: every call has exactly one output, directly behind the calls that were made
 * together with it, and reasoning is followed by what it led to. Providers refuse a prompt that
 * holds one half of such a group, or a stranger in the middle of it.
 *
 * A half without its other half is dropped; an output in the wrong place is moved to its calls.
 */
import type { Item } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import { ALONE, callEndOf, pairsOf } from '../conversation/pairs.ts'
import type { Transform } from './transform.ts'

export function pruneOrphans(): Transform {
  return {
    name: 'prune-orphans',
    run(items) {
      const kinds = items.map(kindOf)
      const partners = pairsOf(items)
      const order = withoutStrayReasoning(kinds, partners, withOutputsAtCalls(kinds, partners))
      const notes = notesOn(items, kinds, order)
      return notes.length === 0
        ? { items, notes }
        : { items: order.flatMap((at) => items[at] ?? []), notes }
    },
  }
}

/** What an item is to its neighbours. A hosted item is whatever else a model makes. */
type Kind = 'call' | 'output' | 'reasoning' | 'hosted' | 'assistant' | 'other-message'

function kindOf(item: Item): Kind {
  if (item.type === 'message') return item.role === 'assistant' ? 'assistant' : 'other-message'
  if (item.type === 'reasoning') return 'reasoning'
  return callEndOf(item)?.side ?? 'hosted'
}

/** What a model made in one go, from its first call to its last call or hosted item, and answers. */
interface Batch {
  /** The last item that stands where it belongs. */
  end: number
  isAnswered: boolean
  /** Reasoning stands behind the end. It belongs to the batch if more of the batch follows. */
  hasLooseReasoning: boolean
  /** Outputs from elsewhere that belong behind the end. */
  readonly late: number[]
}

/** The places of all items but those without their other half, in the order to send them in. */
function withOutputsAtCalls(kinds: readonly Kind[], partners: Int32Array): readonly number[] {
  const batchOf = new Map<number, Batch>()
  const inPlace: number[] = []
  let batch: Batch | null = null
  for (const [at, kind] of kinds.entries()) {
    const isEnd = kind === 'call' || kind === 'output'
    if (isEnd && partners[at] === ALONE) continue
    if (kind === 'output') {
      const own: Batch | undefined = batchOf.get(partners[at] ?? ALONE)
      if (own === undefined) continue
      if (own !== batch || own.hasLooseReasoning) {
        own.late.push(at)
        if (own === batch) batch = null
        continue
      }
      own.isAnswered = true
      own.end = at
    } else {
      batch = batchWith(kind, at, batch)
      if (kind === 'call' && batch !== null) batchOf.set(at, batch)
    }
    inPlace.push(at)
  }
  return withLateOutputs(inPlace, batchOf)
}

/** The batch that goes on with this item, which is no output; `null` if none does. */
function batchWith(kind: Kind, at: number, current: Batch | null): Batch | null {
  const open = current?.isAnswered === true ? null : current
  if (kind === 'assistant' || kind === 'other-message') return null
  if (kind === 'call' && open === null) {
    return { end: at, isAnswered: false, hasLooseReasoning: false, late: [] }
  }
  if (open === null) return null
  open.hasLooseReasoning = kind === 'reasoning'
  if (kind !== 'reasoning') open.end = at
  return open
}

function withLateOutputs(
  inPlace: readonly number[],
  batchOf: ReadonlyMap<number, Batch>,
): readonly number[] {
  const lateBehind = new Map<number, readonly number[]>()
  for (const { end, late } of batchOf.values()) if (late.length > 0) lateBehind.set(end, late)
  if (lateBehind.size === 0) return inPlace
  return inPlace.flatMap((at) => [at, ...(lateBehind.get(at) ?? [])])
}

/**
 * Reasoning must be followed by something that the model made. If a call of its group was dropped,
 * another item of the group will do, but not the reasoning of the next group.
 */
function withoutStrayReasoning(
  kinds: readonly Kind[],
  partners: Int32Array,
  order: readonly number[],
): readonly number[] {
  const group = groupNumbers(kinds, partners)
  const kept: number[] = []
  let next: number | null = null
  for (const at of order.toReversed()) {
    if (kinds[at] === 'reasoning') {
      const follower: Kind | undefined = next === null ? undefined : kinds[next]
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

/** A number for each item that differs where a call was dropped in between. */
function groupNumbers(kinds: readonly Kind[], partners: Int32Array): readonly number[] {
  let group = 0
  return kinds.map((kind, at) => {
    if (kind === 'call' && partners[at] === ALONE) group += 1
    return group
  })
}

function notesOn(
  items: readonly Item[],
  kinds: readonly Kind[],
  order: readonly number[],
): readonly Note[] {
  const isKept = new Uint8Array(items.length)
  const isMoved = new Uint8Array(items.length)
  let first = items.length
  // Only outputs are moved, and only forward: past what stands behind them now and did not before.
  for (const at of order.toReversed()) {
    isKept[at] = 1
    if (at > first) isMoved[at] = 1
    first = Math.min(first, at)
  }
  const notes: Note[] = []
  for (const [at, item] of items.entries()) {
    if (isKept[at] === 0) notes.push({ did: 'dropped', at, why: whyDropped(item, kinds[at]) })
    else if (isMoved[at] === 1) notes.push({ did: 'moved', at, why: 'output-misplaced' })
  }
  return notes
}

function whyDropped(item: Item, kind: Kind | undefined): string {
  if (kind === 'reasoning') return 'reasoning-without-follower'
  if (kind === 'output') return 'output-without-call'
  return callEndOf(item)?.callId === '' ? 'call-malformed' : 'call-without-output'
}
