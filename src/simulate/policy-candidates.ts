/**
 * Lists the policies that are compared: the gateway's presets, and two common ways to shorten a
 * conversation that move their cutoff in every round.
 */
import { isUserMessage, findRoundStarts } from '../core/items/rounds-and-pinned-items.ts'
import type { Item } from '../core/item.ts'
import { listMedia } from '../core/media/media-handles.ts'
import {
  POLICY_NAMES,
  PRESETS,
  type ContextPolicy,
  type MediaRules,
  type PolicyName,
} from '../core/context-policy.ts'
import { dropInvalidReasoning } from '../context/reasoning/drop-invalid-reasoning.ts'
import { filterItems } from '../context/edit-items.ts'
import { listTransforms } from '../context/list-and-run-transforms.ts'
import { shortenOldOutputs } from '../context/tool-outputs/shorten-old-outputs.ts'
import type { Transform } from '../context/transform-interface.ts'
import { SIMULATED_ORIGIN } from './encode-request-text.ts'

export interface PolicyCandidate {
  readonly name: string
  readonly transforms: readonly Transform[]
  /** True if the policy drops reasoning whose prefix has changed. */
  readonly dropsInvalidReasoning: boolean
  /**
   * Returns a key that changes when the policy moves its cutoff, e.g. `3 0 0 12`. While the key
   * stays the same, the items of the previous request must be sent again unchanged. The key is
   * computed from item counts alone; `null` if they are not enough, e.g. for a policy with a token
   * window.
   */
  readonly computeStepKey: ((items: readonly Item[]) => string) | null
}

const BASELINES: readonly PolicyCandidate[] = [
  createNaiveCandidate('sliding-window', createSlidingWindow(20)),
  createNaiveCandidate(
    'trim-by-age',
    shortenOldOutputs({ keepRounds: 10, step: 1, minChars: 1600, headChars: 800, tailChars: 800 }),
  ),
]

export const CANDIDATE_NAMES: readonly string[] = [
  ...POLICY_NAMES,
  ...BASELINES.map(({ name }) => name),
]

/**
 * Lists all candidates, `replay` first. `bindsReasoning` is true if the model accepts reasoning
 * only after the same prefix with which it was generated.
 */
export function listPolicyCandidates(
  bindsReasoning: boolean,
): readonly [PolicyCandidate, ...(readonly PolicyCandidate[])] {
  const [replay, ...others] = POLICY_NAMES
  const createPreset = (name: PolicyName) =>
    createPolicyCandidate(name, PRESETS[name], bindsReasoning)
  return [createPreset(replay), ...others.map(createPreset), ...BASELINES]
}

/** Returns a candidate that uses the same transforms as the gateway. */
export function createPolicyCandidate(
  name: string,
  policy: ContextPolicy,
  bindsReasoning: boolean,
): PolicyCandidate {
  const { wire, account } = SIMULATED_ORIGIN
  const hasWindow = Object.values(policy.window).some((limit) => limit !== null)
  return {
    name,
    transforms: [
      ...listTransforms({ policy, reader: { wire, account, makesCompactions: false } }),
      dropInvalidReasoning({
        wire,
        account,
        computeSeed: () => '',
        checksPrefix: bindsReasoning,
        answersAfterRejection: [],
      }),
    ],
    dropsInvalidReasoning: bindsReasoning,
    computeStepKey: hasWindow ? null : (items) => buildStepKey(policy, items),
  }
}

function buildStepKey(
  { outputs, reasoning, media }: ContextPolicy,
  items: readonly Item[],
): string {
  const turns = findRoundStarts(items).length
  const { keepTurns, step } = outputs
  const countCutoffSteps = (keep: number | null, stride: number): number =>
    keep === null ? 0 : Math.max(0, Math.floor((turns - 1 - keep) / stride))
  // A new compaction item or a newly hidden image changes what is sent, so each starts a new step.
  const arrivals =
    items.filter((item) => item.type === 'opaque').length + countExcessMedia(media, items)
  const closedTurns = reasoning.keep === 'conversation' ? 0 : turns
  return `${countCutoffSteps(keepTurns, step)} ${countCutoffSteps(media.keepTurns, media.step)} ${closedTurns} ${arrivals}`
}

/**
 * Counts the media that exceed the policy's limits, because each new one may hide an earlier one.
 */
function countExcessMedia(rules: MediaRules, items: readonly Item[]): number {
  const { window, imageMessages, bytes, repeated, images } = rules
  const count = listMedia(items).length
  const isLimited = [window, imageMessages, bytes].some((limit) => limit !== null)
  if (isLimited || repeated === 'last') return count
  return images === null ? 0 : Math.max(0, count - images)
}

/**
 * Returns a candidate that sends all reasoning and moves its cutoff in every round. Its step key
 * never changes, so each of its cache misses counts as unexpected.
 */
function createNaiveCandidate(name: string, transform: Transform): PolicyCandidate {
  return { name, transforms: [transform], dropsInvalidReasoning: false, computeStepKey: () => '' }
}

/** Returns a transform that sends only the instructions and the latest rounds. */
function createSlidingWindow(rounds: number): Transform {
  return {
    name: 'sliding-window',
    run(items) {
      const starts = findRoundStarts(items)
      const first = starts[Math.max(0, starts.length - rounds)] ?? 0
      const head = items.findIndex(isUserMessage)
      return filterItems(items, (index) => index < head || index >= first, 'windowed')
    },
  }
}
