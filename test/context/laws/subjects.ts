/**
 * All transforms, with what makes their steps, and the plans that they are put together to, for the
 * laws to be held against. A new transform gets a line in `TRANSFORMS`.
 */
import { isCompaction } from '../../../src/core/items/compaction-item.ts'
import type { Item } from '../../../src/core/item.ts'
import { ALONE, callEndOf, pairsOf } from '../../../src/core/items/tool-call-pairs.ts'
import {
  POLICY_NAMES,
  policyWith,
  type PolicyName,
  type Wishes,
} from '../../../src/core/context-policy.ts'
import { roundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { placeLayers } from '../../../src/memory/insert-layer-blocks.ts'
import { afterReset } from '../../../src/context/windows/drop-before-reset.ts'
import { answerCalls } from '../../../src/context/tool-calls/stub-missing-outputs.ts'
import { applyCompaction } from '../../../src/context/summaries/apply-compaction.ts'
import { applySummary, coveredBefore } from '../../../src/context/summaries/apply-summary.ts'
import { behindCompaction } from '../../../src/context/summaries/move-items-after-compaction.ts'
import { boundHistory } from '../../../src/context/windows/trim-long-round.ts'
import { capOutputs } from '../../../src/context/tool-outputs/cap-outputs.ts'
import { defuseNotices } from '../../../src/context/cleaning/escape-notices-in-items.ts'
import { fitRoom, roomOf, type FitRoom } from '../../../src/context/windows/fit-token-budget.ts'
import { hideAuthors } from '../../../src/context/speakers/hide-authors.ts'
import { keepValidReasoning } from '../../../src/context/reasoning/drop-invalid-reasoning.ts'
import { alwaysSentWhole, MEASURES, sum } from '../../../src/context/windows/item-weights.ts'
import { planFor, rebuild } from '../../../src/context/list-and-run-transforms.ts'
import { planRoom } from '../../../src/context/windows/plan-token-budget.ts'
import { summaryCut } from '../../../src/context/summaries/plan-and-parse-summary.ts'
import { mergeRuns } from '../../../src/context/speakers/merge-consecutive-messages.ts'
import { placeNotes } from '../../../src/context/insert-policy-texts.ts'
import { pruneOrphans } from '../../../src/context/tool-calls/prune-orphans.ts'
import { retainReasoning } from '../../../src/context/reasoning/drop-expired-reasoning.ts'
import { shortenToolOutputs } from '../../../src/context/tool-outputs/shorten-old-outputs.ts'
import { stripDetails } from '../../../src/context/cleaning/strip-details-blocks.ts'
import { stripMarkers } from '../../../src/context/cleaning/strip-markers-from-prompt.ts'
import { tellSpeakers } from '../../../src/context/speakers/label-speakers.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import {
  windowHistory,
  type HistoryWindow,
} from '../../../src/context/windows/keep-recent-rounds.ts'
import type { Run } from '../../support/laws.ts'
import { media, mediaEpoch } from './media-subject.ts'

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
  { name: 'after reset', transform: afterReset(), epoch: () => 0 },
  { name: 'behind compaction', transform: behindCompaction(), epoch: () => 0 },
  { name: 'hide authors', transform: hideAuthors(['u1']), epoch: () => 0 },
  { name: 'merge runs', transform: mergeRuns(), epoch: () => 0 },
  {
    name: 'tell speakers',
    transform: tellSpeakers({ names: 'prefix', ofAssistants: true, persona: 'Ada', actAs: null }),
    epoch: () => 0,
  },
  {
    name: 'place notes',
    // One that moves with every message has nothing but steps; what of it stays has tests of its own.
    transform: placeNotes([{ text: 'note', depth: 1000, role: 'developer' }]),
    epoch: () => 0,
  },
  {
    name: 'place layers',
    transform: placeLayers([
      { name: 'memory', band: 'stable', text: 'noted', changes: [{ round: 1, text: 'more' }] },
    ]),
    epoch: () => 0,
  },
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
  window('items', 1),
  window('items', 3),
  window('items', 8),
  window('items', 15),
  window('turns', 1),
  window('turns', 2),
  window('turns', 5),
  window('tokens', 400),
  window('tokens', 2000),
  fitting({ most: 400 }),
  fitting({ most: 2000 }),
  fitting({ most: 900, policy: 'replay' }),
  bound('items', 5),
  bound('items', 64),
  bound('tokens', 800),
  { name: 'cap', transform: capOutputs({ maxChars: 400, expand: true }), epoch: () => 0 },
  { name: 'cap for good', transform: capOutputs({ maxChars: 900, expand: false }), epoch: () => 0 },
  compaction('chat'),
  compaction('responses'),
  summary(1),
  summary(3),
  retain('next_reply'),
  retain('open_turn'),
  valid(),
  { name: 'defuse', transform: defuseNotices(), epoch: () => 0 },
  media({ repeated: 'last' }),
  media({ window: 0 }),
  media({ window: 4, repeated: 'last' }),
  media({ imageMessages: 2 }),
  media({ keepTurns: 0, step: 1 }),
  media({ keepTurns: 1, step: 2 }),
  media({ keepTurns: 1, step: 3, images: 2, repeated: 'last' }),
  media({ images: 0 }),
  media({ images: 1 }),
  media({ images: 2, repeated: 'last' }),
  media({ bytes: 1000 }),
  media({ window: 6, imageMessages: 3, images: 3, bytes: 2000, repeated: 'last' }),
]

const PLANS: readonly (readonly [mending: Transform, ...(readonly Subject[])])[] = [
  [pruneOrphans(), shorten(1, 1)],
  [withStubs(), shorten(1, 1)],
  [pruneOrphans(), window('items', 1), bound('items', 4)],
  [pruneOrphans(), window('items', 6), bound('items', 64), shorten(2, 2)],
  [withStubs(), window('items', 16), bound('items', 64), shorten(0, 1)],
  [pruneOrphans(), summary(2), shorten(1, 1)],
  [pruneOrphans(), compaction('chat'), window('items', 6), bound('items', 64), shorten(2, 2)],
]

export interface Plan {
  readonly names: string
  readonly run: Run
  readonly epoch: (items: readonly Item[]) => string
  readonly hearsBothSides?: boolean
}

const MADE_PLANS = PLANS.map(([mending, ...subjects]): Plan => ({
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

const WINDOWS: readonly (Wishes['window'] & object)[] = [
  {},
  { items: 8 },
  { turns: 2 },
  { tokens: 700 },
  { turns: 4, items: 16, tokens: 2000 },
]

/** Each policy as a request may have it, with each window. */
const POLICY_PLANS = POLICY_NAMES.flatMap((policy) => [
  ...WINDOWS.map((window) => policyPlan({ policy, window })),
  policyPlan({ policy }, 600),
  policyPlan({ policy, window: { turns: 4, tokens: 2000 } }, 1500),
])

export const WHOLE_PLANS: readonly Plan[] = [...MADE_PLANS, ...POLICY_PLANS]

function policyPlan(wishes: Wishes, room: number | null = null): Plan {
  const policy = policyWith([wishes])
  const plan = planFor({ policy, room, reader: null })
  const { keepTurns, step } = policy.outputs
  const epochs: Readonly<Record<string, Subject['epoch']>> = {
    ...Object.fromEntries(
      Object.entries(wishes.window ?? {}).flatMap(([by, limit]) => {
        const most = limit ?? Infinity
        const kind = by as 'items' | 'turns' | 'tokens'
        const ofWindow = [`window-${by}`, window(kind, most).epoch] as const
        return kind === 'turns'
          ? [ofWindow]
          : [ofWindow, [`bound-${by}`, bound(kind, 4 * most).epoch] as const]
      }),
    ),
    'shorten-tool-outputs': shorten(keepTurns ?? 0, step).epoch,
    'retain-reasoning': retain('open_turn').epoch,
    'show-media': (items) => mediaEpoch(items, policy.media),
    'window-room': (items) => (room === null ? 0 : roomEpoch(items, { most: room, policy })),
  }
  return {
    names: JSON.stringify(wishes) + (room === null ? '' : ` in a room of ${room}`),
    hearsBothSides: wishes.window?.turns === undefined && room === null,
    run: (items) => rebuild(items, plan),
    epoch(items) {
      let left = items
      const told = plan.map(({ name, run }) => {
        const number = epochs[name]?.(left) ?? 0
        left = run(left).items
        return number
      })
      return [waitingCalls(items), ...told].join()
    },
  }
}

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
export function pruned(items: readonly Item[]): readonly Item[] {
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

function window(by: HistoryWindow['by'], most: number): Subject {
  const keepsAnswer = by === 'items' || by === 'tokens'
  return {
    name: `window ${by} ${most}`,
    transform: windowHistory({ by, most }),
    // One turn is the running one alone.
    hearsBothSides: keepsAnswer,
    epoch(items) {
      const stride = Math.ceil(most / 2)
      const weights = weighed(by, items)
      const step = Math.max(0, Math.ceil((sum(weights) - most) / stride))
      if (step === 0) return step
      const starts = roundStarts(items)
      const cut = starts.find((start) => sum(weights.slice(0, start)) >= step * stride)
      if (cut !== undefined && !keepsAnswer) return step
      if (cut !== undefined && items.slice(cut, starts.at(-1)).some(isAnswer)) return step
      // The newest round stands alone, or with the one before it: each new round is a step, and so
      // is its end.
      return `${cut === undefined ? '' : step} ${starts.length} ${items.slice(-1).some(isAnswer)}`
    },
  }
}

function bound(by: 'items' | 'tokens', most: number): Subject {
  return {
    name: `bound ${by} ${most}`,
    transform: boundHistory({ by, most }),
    epoch(items) {
      const total = sum(weighed(by, items))
      if (total <= most) return 0
      // Where a group and a question may not fit in between, there is nothing but steps.
      if (by === 'tokens' || most < 64) return items.length
      const room = Math.floor(most / 4)
      return Math.ceil((total - most + room) / Math.ceil(most / 2))
    },
  }
}

function weighed(by: HistoryWindow['by'], items: readonly Item[]): readonly number[] {
  return MEASURES[by](items, alwaysSentWhole(items))
}

/** That its own steps are few is a law of its own (`context/windows/fit-token-budget.test.ts`). */
function fitting({ most, policy = 'retain' }: { most: number; policy?: PolicyName }): Subject {
  const fit = { most, policy: policyWith([{ policy }]) }
  return {
    name: `fit ${most} ${policy}`,
    transform: fitRoom(fit),
    // What the model cannot take, it cannot be sent.
    hearsBothSides: false,
    epoch: (items) => roomEpoch(items, fit),
  }
}

function roomEpoch(items: readonly Item[], fit: FitRoom): string {
  const { cut, shortened, hard } = planRoom(items, alwaysSentWhole(items), roomOf(fit))
  return [cut, shortened, ...[0, ...roundStarts(items)].filter((at) => hard[at] === 1)].join(' ')
}

/** Of all that a summary could stand for; where it does so only from time to time, it is no law's. */
function summary(keepTurns: number): Subject {
  const cutOf = (items: readonly Item[]) => summaryCut(items, { keepTurns, keepTokens: 0 }, 0)
  return {
    name: `summary before ${keepTurns}`,
    transform: {
      name: 'apply-summary',
      run(items) {
        const covered = coveredBefore(items, cutOf(items)?.at ?? 0)
        return applySummary({ id: 'sum_1', text: 'In short.', facts: [], covered }).run(items)
      },
    },
    epoch: (items) => cutOf(items)?.at ?? 0,
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
