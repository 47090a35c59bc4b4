/**
 * All transforms, with what makes their steps, and the plans that they are put together to, for the
 * laws to be held against. A new transform gets a line in `TRANSFORMS`.
 */
import { isCompaction } from '../../src/conversation/compaction.ts'
import type { Item } from '../../src/conversation/item.ts'
import { ALONE, callEndOf, pairsOf } from '../../src/conversation/pairs.ts'
import { headLength, isPinned, roundStarts } from '../../src/conversation/rounds.ts'
import { estimateTokens } from '../../src/conversation/tokens.ts'
import { answerCalls } from '../../src/rebuild/answer-calls.ts'
import { applyCompaction } from '../../src/rebuild/apply-compaction.ts'
import { boundItems } from '../../src/rebuild/bound-items.ts'
import { fitWindow } from '../../src/rebuild/fit-window.ts'
import { keepValidReasoning } from '../../src/rebuild/keep-valid-reasoning.ts'
import { rebuild } from '../../src/rebuild/plan.ts'
import { pruneOrphans } from '../../src/rebuild/prune-orphans.ts'
import { retainReasoning } from '../../src/rebuild/retain-reasoning.ts'
import { shortenToolOutputs } from '../../src/rebuild/shorten-tool-outputs.ts'
import { stripDetails } from '../../src/rebuild/strip-details.ts'
import { stripMarkers } from '../../src/rebuild/strip-markers.ts'
import type { Transform } from '../../src/rebuild/transform.ts'
import { windowItems } from '../../src/rebuild/window-items.ts'
import type { Run } from '../support/laws.ts'

export interface Subject {
  readonly name: string
  readonly transform: Transform
  /** Told from counts alone: while it stays the same, what was sent is sent again unchanged. */
  readonly epoch: (items: readonly Item[]) => number | string
  readonly hearsBothSides?: boolean
  /** It mends what it is given. In every plan one of these comes before what counts anything. */
  readonly mends?: boolean
  /** It gives an output to each call that has none. */
  readonly stubs?: boolean
}

export const TRANSFORMS: readonly Subject[] = [
  { name: 'prune', transform: pruneOrphans(), epoch: waitingCalls, mends: true },
  // A call that has waited in vain keeps its place, if a stub can be told in words.
  {
    name: 'prune and answer',
    transform: withStubs(),
    epoch: waitingOpaquely,
    mends: true,
    stubs: true,
  },
  { name: 'strip details', transform: stripDetails(), epoch: () => 0 },
  { name: 'strip markers', transform: stripMarkers(), epoch: () => 0 },
  shorten(0, 1),
  shorten(1, 2),
  shorten(2, 3),
  window(1),
  window(3),
  window(8),
  window(15),
  bound(5),
  bound(64),
  compaction('chat'),
  compaction('responses'),
  fit(2000),
  fit(400),
  retain('next_reply'),
  retain('open_turn'),
  valid(),
]

const PLANS: readonly (readonly [mending: Transform, ...(readonly Subject[])])[] = [
  [pruneOrphans(), shorten(1, 1)],
  [withStubs(), shorten(1, 1)],
  [pruneOrphans(), window(1), bound(4)],
  [pruneOrphans(), window(6), bound(64), shorten(2, 2)],
  [withStubs(), window(16), bound(64), shorten(0, 1)],
  [pruneOrphans(), compaction('chat'), window(6), bound(64), shorten(2, 2)],
]

export interface Plan {
  readonly names: string
  readonly run: Run
  readonly epoch: (items: readonly Item[]) => string
}

export const WHOLE_PLANS: readonly Plan[] = PLANS.map(([mending, ...subjects]) => ({
  names: [mending, ...subjects].map(({ name }) => name).join(),
  run: (items) =>
    rebuild(items, [mending, ...subjects.map(({ transform }) => transform), pruneOrphans()]),
  // A transform counts what those before it have left.
  epoch(items) {
    let left = mending.run(items).items
    const waiting = waitingCalls(items)
    const epochs = subjects.map(({ transform, epoch }) => {
      const number = epoch(left)
      left = transform.run(left).items
      return number
    })
    return [waiting, ...epochs].join()
  },
}))

/** What a transform is given in every plan: the orphans are gone before anything is counted. */
export function givenTo({ mends = false }: Subject, items: readonly Item[]): readonly Item[] {
  return mends ? items : pruned(items)
}

export function epochOf(subject: Subject, items: readonly Item[]): string {
  const waiting = subject.mends === true ? 0 : waitingCalls(items)
  return `${waiting} ${subject.epoch(givenTo(subject, items))}`
}

/** A call that waits at the end is dropped when its output does not come: a step. */
export function waitingCalls(items: readonly Item[]): number {
  return waiting(items).length
}

function waitingOpaquely(items: readonly Item[]): number {
  return waiting(items).filter(({ type }) => type === 'opaque').length
}

function waiting(items: readonly Item[]): readonly Item[] {
  const left = pruned(items)
  const partners = pairsOf(left)
  return left.filter((item, at) => partners[at] === ALONE && callEndOf(item) !== null)
}

/** Asked for over and over, by each transform. */
function pruned(items: readonly Item[]): readonly Item[] {
  const known = PRUNED.get(items) ?? pruneOrphans().run(items).items
  PRUNED.set(items, known)
  return known
}

const PRUNED = new WeakMap<readonly Item[], readonly Item[]>()

function withStubs(): Transform {
  const transforms = [pruneOrphans({ unanswered: 'stub' }), answerCalls()]
  return { name: 'prune and answer', run: (items) => rebuild(items, transforms) }
}

function shorten(rounds: number, step: number): Subject {
  return {
    name: `shorten ${rounds}/${step}`,
    transform: shortenToolOutputs({ rounds, step }),
    epoch: (items) => Math.max(0, Math.floor((roundStarts(items).length - 1 - rounds) / step)),
  }
}

function window(maxItems: number): Subject {
  return {
    name: `window ${maxItems}`,
    transform: windowItems({ maxItems }),
    epoch(items) {
      const head = headLength(items)
      const stride = Math.ceil(maxItems / 2)
      const step = Math.max(0, Math.ceil((items.length - head - maxItems) / stride))
      const starts = roundStarts(items)
      if (step === 0) return step
      const cut = starts.find((start) => start >= head + step * stride)
      if (cut !== undefined && items.slice(cut, starts.at(-1)).some(isAnswer)) return step
      // The newest round stands alone, or with the one before it: each new round is a step, and so
      // is its end.
      return `${cut === undefined ? '' : step} ${starts.length} ${items.slice(-1).some(isAnswer)}`
    },
  }
}

function bound(maxItems: number): Subject {
  return {
    name: `bound ${maxItems}`,
    transform: boundItems({ maxItems }),
    epoch(items) {
      const length = items.length - headLength(items)
      if (length <= maxItems) return 0
      // Where a group and a question may not fit in between, there is nothing but steps.
      if (maxItems < 64) return length
      const room = Math.floor(maxItems / 4)
      return Math.ceil((length - maxItems + room) / Math.ceil(maxItems / 2))
    },
  }
}

/** Reasoning that led to a compaction has lost its follower when that is left out. */
function compaction(wire: string): Subject {
  const apply = applyCompaction({ wire, account: 'a', compacts: false })
  return {
    name: `compaction for ${wire}`,
    transform: { name: apply.name, run: (items) => rebuild(items, [apply, pruneOrphans()]) },
    epoch: (items) => items.filter(isCompaction).length,
  }
}

function fit(maxTokens: number): Subject {
  const weigh = (items: readonly Item[]) =>
    items.reduce((sum, item) => sum + estimateTokens(item), 0)
  return {
    name: `fit ${maxTokens}`,
    transform: fitWindow({ maxTokens }),
    // What the model cannot take, it cannot be sent, whoever has said it.
    hearsBothSides: false,
    epoch(items) {
      const stride = Math.floor(maxTokens / 4)
      const step = Math.max(0, Math.ceil((weigh(items) - maxTokens) / stride))
      const starts = roundStarts(items)
      const behindHead = (end: number) =>
        weigh(items.slice(headLength(items), end).filter((item) => !isPinned(item)))
      const isEnough = starts.some((start) => behindHead(start) >= step * stride)
      // Where all the others are not enough, the newest round stands alone, and each new one is a step.
      return isEnough ? step : `${step} ${starts.length}`
    },
  }
}

function retain(keep: 'next_reply' | 'open_turn'): Subject {
  return {
    name: `retain ${keep}`,
    transform: retainReasoning(keep),
    epoch: (items) => roundStarts(items).length,
  }
}

/** Only what is loaded says who made it; what follows from that is told in a test of its own. */
function valid(): Subject {
  const reader = { wire: 'anthropic', account: 'a', seed: () => '', refusedBefore: [] }
  return {
    name: 'valid',
    transform: keepValidReasoning({ ...reader, checksPrefix: true }),
    epoch: () => 0,
  }
}

function isAnswer(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant'
}
