/**
 * Lists all transforms and pipelines for the laws, each with a function that computes its steps. A new transform
 * gets a line in `TRANSFORMS`.
 */
import { isCompaction } from '../../../src/core/items/compaction-item.ts'
import type { Item } from '../../../src/core/item.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../../src/core/items/tool-call-pairs.ts'
import {
  POLICY_NAMES,
  resolvePolicy,
  type PolicyName,
  type PolicyOverrides,
} from '../../../src/core/context-policy.ts'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { insertLayerBlocks } from '../../../src/memory/insert-layer-blocks.ts'
import { dropBeforeReset } from '../../../src/context/windows/drop-before-reset.ts'
import { stubMissingOutputs } from '../../../src/context/tool-calls/stub-missing-outputs.ts'
import { applyCompaction } from '../../../src/context/summaries/apply-compaction.ts'
import {
  applySummary,
  listItemsReplacedBySummary,
} from '../../../src/context/summaries/apply-summary.ts'
import { moveItemsAfterCompaction } from '../../../src/context/summaries/move-items-after-compaction.ts'
import { trimLongRounds } from '../../../src/context/windows/trim-long-rounds.ts'
import { capOutputs } from '../../../src/context/tool-outputs/cap-outputs.ts'
import { escapeFakeNoticesInItems } from '../../../src/context/cleaning/escape-fake-notices-in-items.ts'
import {
  fitTokenBudget,
  createTokenBudgetOptions,
  type TokenBudgetFitOptions,
} from '../../../src/context/windows/fit-token-budget.ts'
import { hideItemsOfAuthors } from '../../../src/context/speakers/hide-items-of-authors.ts'
import { dropInvalidReasoning } from '../../../src/context/reasoning/drop-invalid-reasoning.ts'
import { createAlwaysSentGroupPredicate } from '../../../src/context/always-sent-items.ts'
import { WEIGHING_FUNCTIONS, sumWeights } from '../../../src/context/windows/item-weights.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { planTokenBudget } from '../../../src/context/windows/plan-token-budget.ts'
import { findSummaryCut } from '../../../src/context/summaries/summary-cut-prompts-and-parser.ts'
import { mergeMessagesOfOneAuthor } from '../../../src/context/speakers/merge-messages-of-one-author.ts'
import { insertPolicyTexts } from '../../../src/context/insert-policy-texts.ts'
import { pruneOrphans } from '../../../src/context/tool-calls/prune-orphans.ts'
import { dropExpiredReasoning } from '../../../src/context/reasoning/drop-expired-reasoning.ts'
import { shortenOldOutputs } from '../../../src/context/tool-outputs/shorten-old-outputs.ts'
import { stripDetailsBlocks } from '../../../src/context/cleaning/strip-details-blocks.ts'
import { stripMarkersFromPrompt } from '../../../src/context/cleaning/strip-markers-from-prompt.ts'
import { labelSpeakersAndAssignRoles } from '../../../src/context/speakers/label-speakers-and-assign-roles.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import {
  keepRecentRounds,
  type HistoryWindow,
} from '../../../src/context/windows/keep-recent-rounds.ts'
import type { RunTransform } from '../../support/laws.ts'
import { media, mediaEpoch } from './media-subject.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

export interface Subject {
  readonly name: string
  readonly transform: Transform
  /** Computed from counts alone: while the value stays the same, the earlier prompt is sent again unchanged. */
  readonly epoch: (items: readonly Item[]) => number | string
  readonly keepsBothSides?: boolean
  /** True if the transform makes lists valid. In each pipeline one of these runs before anything is counted. */
  readonly makesValid?: boolean
  /** True if the transform adds missing outputs. */
  readonly addsStubs?: boolean
}

export const TRANSFORMS: readonly Subject[] = [
  { name: 'after reset', transform: dropBeforeReset(), epoch: () => 0 },
  { name: 'behind compaction', transform: moveItemsAfterCompaction(), epoch: () => 0 },
  { name: 'hide authors', transform: hideItemsOfAuthors(['u1']), epoch: () => 0 },
  { name: 'merge runs', transform: mergeMessagesOfOneAuthor(), epoch: () => 0 },
  {
    name: 'tell speakers',
    transform: labelSpeakersAndAssignRoles({
      names: 'prefix',
      labelsAssistants: true,
      persona: 'Ada',
      actAs: null,
    }),
    epoch: () => 0,
  },
  {
    name: 'place notes',
    // A text that moves with every message changes the prefix each time; other tests check what stays.
    transform: insertPolicyTexts([{ text: 'note', depth: 1000, role: 'developer' }]),
    epoch: () => 0,
  },
  {
    name: 'place layers',
    transform: insertLayerBlocks([
      { name: 'memory', stability: 'stable', text: 'noted', changes: [{ round: 1, text: 'more' }] },
    ]),
    epoch: () => 0,
  },
  { name: 'prune', transform: pruneOrphans(), epoch: countWaitingCalls, makesValid: true },
  // A call that never got its output stays in place if it can have a stub output.
  {
    name: 'prune and answer',
    transform: createPruneWithStubs(),
    epoch: countWaitingOpaqueCalls,
    makesValid: true,
    addsStubs: true,
  },
  { name: 'strip details', transform: stripDetailsBlocks(), epoch: () => 0 },
  { name: 'strip markers', transform: stripMarkersFromPrompt(), epoch: () => 0 },
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
  tokenBudget({ maxTokens: 400 }),
  tokenBudget({ maxTokens: 2000 }),
  tokenBudget({ maxTokens: 900, policy: 'replay' }),
  bound('items', 5),
  bound('items', 64),
  bound('tokens', 800),
  { name: 'cap', transform: capOutputs({ maxChars: 400, offersExpandTool: true }), epoch: () => 0 },
  {
    name: 'cap for good',
    transform: capOutputs({ maxChars: 900, offersExpandTool: false }),
    epoch: () => 0,
  },
  compaction('chat'),
  compaction('responses'),
  summary(1),
  summary(3),
  expiredReasoning('next_reply'),
  expiredReasoning('open_turn'),
  validReasoning(),
  { name: 'defuse', transform: escapeFakeNoticesInItems(), epoch: () => 0 },
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
  [createPruneWithStubs(), shorten(1, 1)],
  [pruneOrphans(), window('items', 1), bound('items', 4)],
  [pruneOrphans(), window('items', 6), bound('items', 64), shorten(2, 2)],
  [createPruneWithStubs(), window('items', 16), bound('items', 64), shorten(0, 1)],
  [pruneOrphans(), summary(2), shorten(1, 1)],
  [pruneOrphans(), compaction('chat'), window('items', 6), bound('items', 64), shorten(2, 2)],
]

export interface Plan {
  readonly names: string
  readonly run: RunTransform
  readonly epoch: (items: readonly Item[]) => string
  readonly keepsBothSides?: boolean
  /**
   * False if a second run on the result may change it: dropped reasoning leaves no trace in the result, so a second run
   * would compute other costs of earlier requests.
   */
  readonly isRepeatable?: boolean
}

const BASIC_PLANS = PLANS.map(([mending, ...subjects]): Plan => ({
  names: [mending, ...subjects].map(({ name }) => name).join(),
  run: (items) =>
    runTransforms(items, [mending, ...subjects.map(({ transform }) => transform), pruneOrphans()]),
  // A transform counts the items that the earlier ones have left.
  epoch(items) {
    let left = mending.run(items).items
    const waiting = countWaitingCalls(items)
    const epochs = subjects.map(({ transform, epoch }) => {
      const number = epoch(left)
      left = transform.run(left).items
      return number
    })
    return [waiting, ...epochs].join()
  },
}))

const WINDOWS: readonly (PolicyOverrides['window'] & object)[] = [
  {},
  { items: 8 },
  { turns: 2 },
  { tokens: 700 },
  { turns: 4, items: 16, tokens: 2000 },
]

/** Each policy, with each window. */
const POLICY_PLANS = POLICY_NAMES.flatMap((policy) => [
  ...WINDOWS.map((window) => policyPlan({ policy, window })),
  policyPlan({ policy }, 600),
  policyPlan({ policy, window: { turns: 4, tokens: 2000 } }, 1500),
])

export const WHOLE_PLANS: readonly Plan[] = [...BASIC_PLANS, ...POLICY_PLANS]

function policyPlan(overrides: PolicyOverrides, tokenBudget: number | null = null): Plan {
  const policy = resolvePolicy([CUTS_AT_ANY_LENGTH, overrides])
  const plan = listTransforms({ policy, tokenBudget, reader: null })
  const { keepTurns, step } = policy.outputs
  const epochs: Readonly<Record<string, Subject['epoch']>> = {
    ...Object.fromEntries(
      Object.entries(overrides.window ?? {}).flatMap(([by, limit]) => {
        const most = limit ?? Infinity
        const kind = by as 'items' | 'turns' | 'tokens'
        const ofWindow = [`window-${by}`, window(kind, most).epoch] as const
        return kind === 'turns'
          ? [ofWindow]
          : [ofWindow, [`bound-${by}`, bound(kind, 4 * most).epoch] as const]
      }),
    ),
    'shorten-tool-outputs': shorten(keepTurns ?? 0, step).epoch,
    'retain-reasoning': expiredReasoning('open_turn').epoch,
    'show-media': (items) => mediaEpoch(items, policy.media),
    'window-room': (items) =>
      tokenBudget === null ? 0 : computeTokenBudgetEpoch(items, { maxTokens: tokenBudget, policy }),
  }
  return {
    names:
      JSON.stringify(overrides) +
      (tokenBudget === null ? '' : ` with a token budget of ${tokenBudget}`),
    keepsBothSides: overrides.window?.turns === undefined && tokenBudget === null,
    isRepeatable: policy.reasoning.keep === 'conversation',
    run: (items) => runTransforms(items, plan),
    epoch(items) {
      let left = items
      const told = plan.map(({ name, run }) => {
        const number = epochs[name]?.(left) ?? 0
        left = run(left).items
        return number
      })
      return [countWaitingCalls(items), ...told].join()
    },
  }
}

/** The input of a transform in a pipeline: orphans are dropped before anything is counted. */
export function preparePipelineInput(
  { makesValid = false }: Subject,
  items: readonly Item[],
): readonly Item[] {
  return makesValid ? items : pruneCached(items)
}

export function computeEpoch(subject: Subject, items: readonly Item[]): string {
  const waiting = subject.makesValid === true ? 0 : countWaitingCalls(items)
  return `${waiting} ${subject.epoch(preparePipelineInput(subject, items))}`
}

/** A step occurs when a call at the end is dropped because its output does not come. */
export function countWaitingCalls(items: readonly Item[]): number {
  return listWaitingCalls(items).length
}

function countWaitingOpaqueCalls(items: readonly Item[]): number {
  return listWaitingCalls(items).filter(({ type }) => type === 'opaque').length
}

function listWaitingCalls(items: readonly Item[]): readonly Item[] {
  const left = pruneCached(items)
  const partners = findToolCallPairs(left)
  return left.filter((item, at) => partners[at] === UNPAIRED && readToolCallIdentity(item) !== null)
}

/** Cached, because each transform needs it repeatedly. */
export function pruneCached(items: readonly Item[]): readonly Item[] {
  const known = PRUNED_LISTS.get(items) ?? pruneOrphans().run(items).items
  PRUNED_LISTS.set(items, known)
  return known
}

const PRUNED_LISTS = new WeakMap<readonly Item[], readonly Item[]>()

function createPruneWithStubs(): Transform {
  const transforms = [pruneOrphans('stub'), stubMissingOutputs()]
  return { name: 'prune and answer', run: (items) => runTransforms(items, transforms) }
}

function shorten(rounds: number, step: number): Subject {
  return {
    name: `shorten ${rounds}/${step}`,
    transform: shortenOldOutputs({ keepRounds: rounds, step }),
    epoch: (items) => Math.max(0, Math.floor((findRoundStarts(items).length - 1 - rounds) / step)),
  }
}

function window(by: HistoryWindow['unit'], most: number): Subject {
  const keepsAnswer = by === 'items' || by === 'tokens'
  return {
    name: `window ${by} ${most}`,
    transform: keepRecentRounds({ unit: by, maxWeight: most }),
    // A window of one turn is the running turn alone.
    keepsBothSides: keepsAnswer,
    epoch(items) {
      const stride = Math.ceil(most / 2)
      const weights = weighHistory(by, items)
      const step = Math.max(0, Math.ceil((sumWeights(weights) - most) / stride))
      if (step === 0) return step
      const starts = findRoundStarts(items)
      const cut = starts.find((start) => sumWeights(weights.slice(0, start)) >= step * stride)
      if (cut !== undefined && !keepsAnswer) return step
      if (cut !== undefined && items.slice(cut, starts.at(-1)).some(isAnswer)) return step
      // Only the latest round stays, or the latest two: each new round is a step, and so is its end.
      return `${cut === undefined ? '' : step} ${starts.length} ${items.slice(-1).some(isAnswer)}`
    },
  }
}

function bound(by: 'items' | 'tokens', most: number): Subject {
  return {
    name: `bound ${by} ${most}`,
    transform: trimLongRounds({ unit: by, maxWeight: most }),
    epoch(items) {
      const total = sumWeights(weighHistory(by, items))
      if (total <= most) return 0
      // If a group and a question may not fit between two steps, each item may be a step.
      if (by === 'tokens' || most < 64) return items.length
      const anchors = Math.floor(most / 4)
      return Math.ceil((total - most + anchors) / Math.ceil(most / 2))
    },
  }
}

function weighHistory(by: HistoryWindow['unit'], items: readonly Item[]): readonly number[] {
  return WEIGHING_FUNCTIONS[by](items, createAlwaysSentGroupPredicate(items))
}

/** `context/windows/fit-token-budget.test.ts` checks that the steps are few. */
type TokenBudgetCase = Pick<TokenBudgetFitOptions, 'maxTokens'> & { readonly policy?: PolicyName }

function tokenBudget({ maxTokens, policy = 'retain' }: TokenBudgetCase): Subject {
  const fit = { maxTokens, policy: resolvePolicy([CUTS_AT_ANY_LENGTH, { policy }]) }
  return {
    name: `fit ${maxTokens} ${policy}`,
    transform: fitTokenBudget(fit),
    // A latest round that exceeds the limit cannot be sent completely.
    keepsBothSides: false,
    epoch: (items) => computeTokenBudgetEpoch(items, fit),
  }
}

function computeTokenBudgetEpoch(items: readonly Item[], fit: TokenBudgetFitOptions): string {
  const { dropBefore, shortenBefore, isCapped } = planTokenBudget(
    items,
    createAlwaysSentGroupPredicate(items),
    createTokenBudgetOptions(fit),
  )
  return [
    dropBefore,
    shortenBefore,
    ...[0, ...findRoundStarts(items)].filter((at) => isCapped[at] === 1),
  ].join(' ')
}

/** The summary covers everything that it could replace. Summaries that come later are not checked here. */
function summary(keepTurns: number): Subject {
  const cutOf = (items: readonly Item[]) => findSummaryCut(items, { keepTurns, keepTokens: 0 }, 0)
  return {
    name: `summary before ${keepTurns}`,
    transform: {
      name: 'apply-summary',
      run(items) {
        const covered = listItemsReplacedBySummary(items, cutOf(items)?.endIndex ?? 0)
        return applySummary({
          id: 'sum_1',
          text: 'In short.',
          facts: [],
          replacedItems: covered,
        }).run(items)
      },
    },
    epoch: (items) => cutOf(items)?.endIndex ?? 0,
  }
}

/** Dropping a compaction leaves the reasoning before it without its next item. */
function compaction(wire: string): Subject {
  const apply = applyCompaction({ wire, account: 'a', makesCompactions: false })
  return {
    name: `compaction for ${wire}`,
    transform: { name: apply.name, run: (items) => runTransforms(items, [apply, pruneOrphans()]) },
    epoch: (items) => items.filter(isCompaction).length,
  }
}

function expiredReasoning(keep: 'next_reply' | 'open_turn'): Subject {
  return {
    name: `retain ${keep}`,
    transform: dropExpiredReasoning(keep),
    epoch: (items) => findRoundStarts(items).length,
  }
}

/** Only loaded items have an origin; other tests check its effects. */
function validReasoning(): Subject {
  const reader = {
    wire: 'anthropic',
    account: 'a',
    model: 'm',
    computeSeed: () => '',
    answersAfterRejection: [],
  }
  return {
    name: 'valid',
    transform: dropInvalidReasoning({ ...reader, checksPrefix: true }),
    epoch: () => 0,
  }
}

function isAnswer(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant'
}
