/**
 * Makes a list lawful: every call has exactly one output, directly behind the calls that were made
 * together with it, and reasoning is followed by what it led to. Providers refuse a prompt that
 * holds one half of such a group, or a stranger in the middle of it.
 *
 * A half without its other half is dropped; an output in the wrong place is moved to its calls. A
 * pair that is there twice, as the client kept it and as it was recorded, is sent once.
 *
 * Calls at the running end, with nothing behind them but their own batch, wait for their outputs
 * and stay: if the client has asked too early, it is the provider's business to say so.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import { UNPAIRED, callEndOf, findToolCallPairs } from '../../core/items/tool-call-pairs.ts'
import { createStubOutput } from './stub-missing-outputs.ts'
import { findDuplicateCalls } from './find-duplicate-calls.ts'
import { hasValidItemOrder } from './has-valid-item-order.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export interface OrphanPruningOptions {
  /** What becomes of an unanswered call in the middle: with `stub`, `answerCalls` comes next. */
  readonly unanswered?: 'drop' | 'stub'
}

export function pruneOrphans({ unanswered = 'drop' }: OrphanPruningOptions = {}): Transform {
  return {
    name: 'prune-orphans',
    needs: ITEM_TRAITS.modelItem,
    prefixStability: 'lasting',
    run(items) {
      if (hasValidItemOrder(items)) return { items, notes: [] }
      const kinds = items.map(kindOf)
      const partners = findToolCallPairs(items)
      const lost = lostEnds({ items, kinds, partners }, unanswered === 'stub')
      const order = withoutStrayReasoning(kinds, lost, withOutputsAtCalls(kinds, partners, lost))
      const notes = notesOn(items, order, lost)
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

interface Seen {
  readonly items: readonly Item[]
  readonly kinds: readonly Kind[]
  readonly partners: Int32Array
}

/** The calls and outputs that are left out, each with the reason. */
type Lost = ReadonlyMap<number, string>

function lostEnds({ items, kinds, partners }: Seen, keepsForStub: boolean): Lost {
  const lost = new Map<number, string>()
  for (const at of findDuplicateCalls(items, partners)) lost.set(at, 'pair-duplicate')
  if (kinds.every((kind, at) => !isEnd(kind) || partners[at] !== UNPAIRED)) return lost
  const unanswered: number[] = []
  // The ids of calls that are answered, up to where somebody speaks.
  const taken = new Set<string>()
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at]
    const kind = kinds[at]
    if (kind === 'assistant' || kind === 'other-message') taken.clear()
    if (item === undefined || lost.has(at)) continue
    if (kind === 'output' && partners[at] === UNPAIRED) lost.set(at, 'output-without-call')
    if (kind !== 'call') continue
    const { family, callId } = callEndOf(item) ?? NO_END
    const id = `${family} ${callId}`
    if (partners[at] !== UNPAIRED) taken.add(id)
    else if (callId === '') lost.set(at, 'call-malformed')
    // Beside one that took its id over, it would be taken for the one that was answered.
    else if (taken.has(id)) lost.set(at, 'call-without-output')
    else if (!keepsForStub || createStubOutput(item) === null) unanswered.push(at)
  }
  if (unanswered.length === 0) return lost
  const end = runningEnd(kinds, partners, lost)
  for (const at of unanswered) if (at < end) lost.set(at, 'call-without-output')
  return lost
}

function isEnd(kind: Kind): boolean {
  return kind === 'call' || kind === 'output'
}

const NO_END = { family: '', callId: '' }

/** Where the last batch begins of all that the model has made since anybody said something. */
function runningEnd(kinds: readonly Kind[], partners: Int32Array, lost: Lost): number {
  const start = kinds.findLastIndex((kind) => kind === 'assistant' || kind === 'other-message') + 1
  let isMade = false
  for (let at = kinds.length - 1; at >= start; at -= 1) {
    if (lost.has(at)) continue
    const kind = kinds[at]
    if (kind === 'call' || kind === 'hosted') isMade = true
    // An output that answers an older call is moved there.
    else if (isMade && kind === 'output' && (partners[at] ?? UNPAIRED) >= start) return at + 1
  }
  return start
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
function withOutputsAtCalls(
  kinds: readonly Kind[],
  partners: Int32Array,
  lost: Lost,
): readonly number[] {
  const batchOf = new Map<number, Batch>()
  const inPlace: number[] = []
  let batch: Batch | null = null
  for (let at = 0; at < kinds.length; at += 1) {
    const kind = kinds[at] as Kind
    if (lost.has(at)) continue
    if (kind === 'output') {
      const own: Batch | undefined = batchOf.get(partners[at] ?? UNPAIRED)
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
  lost: Lost,
  order: readonly number[],
): readonly number[] {
  const group = groupNumbers(kinds, lost)
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
function groupNumbers(kinds: readonly Kind[], lost: Lost): readonly number[] {
  let group = 0
  return kinds.map((kind, at) => {
    if (kind === 'call' && lost.has(at)) group += 1
    return group
  })
}

function notesOn(items: readonly Item[], order: readonly number[], lost: Lost): readonly Note[] {
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
  for (let at = 0; at < items.length; at += 1) {
    if (isKept[at] === 0) {
      notes.push({ did: 'dropped', at, why: lost.get(at) ?? 'reasoning-without-follower' })
    } else if (isMoved[at] === 1) notes.push({ did: 'moved', at, why: 'output-misplaced' })
  }
  return notes
}
