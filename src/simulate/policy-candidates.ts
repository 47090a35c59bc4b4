/**
 * Lists the policies that are compared: the gateway's presets, and two methods that are common
 * elsewhere. These two move their cutoff (the border between shortened and complete content) in
 * every round.
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
  /**
   * True if the policy drops reasoning when the text before it has changed since it was generated.
   */
  readonly dropsInvalidReasoning: boolean
  /**
   * Returns a key, e.g. `3 0 0 12`, that changes whenever the policy may change what was already
   * sent: its cutoff moves, a compaction arrives, or an image is hidden. While the key is the same,
   * each request must begin with the items of the previous one. `null` for policies with a
   * `window`, whose cutoff these counts do not show.
   */
  readonly computeStepKey: ((items: readonly Item[]) => string) | null
}

const BASELINES: readonly PolicyCandidate[] = [
  createNaiveCandidate('sliding-window', createSlidingWindow(20)),
  createNaiveCandidate(
    'trim-by-age',
    shortenOldOutputs({
      keepRounds: 10,
      step: 1,
      longerThanChars: 1600,
      headChars: 800,
      tailChars: 800,
    }),
  ),
]

export const CANDIDATE_NAMES: readonly string[] = [
  ...POLICY_NAMES,
  ...BASELINES.map(({ name }) => name),
]

/**
 * Lists all candidates, `replay` first. `bindsReasoning` is true if the model rejects reasoning
 * when the text before it has changed since it was generated.
 */
export function listPolicyCandidates(
  bindsReasoning: boolean,
): readonly [PolicyCandidate, ...(readonly PolicyCandidate[])] {
  const [replay, ...others] = POLICY_NAMES
  const createPreset = (name: PolicyName) =>
    createPolicyCandidate(name, PRESETS[name], bindsReasoning)
  return [createPreset(replay), ...others.map(createPreset), ...BASELINES]
}

/**
 * Returns a candidate that sends what the gateway would send under this policy: it uses the same
 * transforms.
 */
export function createPolicyCandidate(
  name: string,
  policy: ContextPolicy,
  bindsReasoning: boolean,
): PolicyCandidate {
  const { wire, account, model } = SIMULATED_ORIGIN
  const hasWindow = Object.values(policy.window).some((limit) => limit !== null)
  return {
    name,
    transforms: [
      ...listTransforms({ policy, reader: { wire, account, makesCompactions: false } }),
      dropInvalidReasoning({
        wire,
        account,
        model,
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
  // A new compaction item or another hidden image changes what was already sent, so each of them
  // changes the key.
  const arrivals =
    items.filter((item) => item.type === 'opaque').length + countExcessMedia(media, items)
  const closedTurns = reasoning.keep === 'conversation' ? 0 : turns
  return `${countCutoffSteps(keepTurns, step)} ${countCutoffSteps(media.keepTurns, media.step)} ${closedTurns} ${arrivals}`
}

/**
 * Returns a number that changes whenever a new image or file may hide an earlier one: the count of
 * all media, or of those beyond `images` if this is the only limit.
 */
function countExcessMedia(rules: MediaRules, items: readonly Item[]): number {
  const { window, imageMessages, bytes, repeated, images } = rules
  const count = listMedia(items).length
  const isLimited = [window, imageMessages, bytes].some((limit) => limit !== null)
  if (isLimited || repeated === 'last') return count
  return images === null ? 0 : Math.max(0, count - images)
}

/**
 * Returns a candidate for a method that is common elsewhere: its cutoff moves in every round, and
 * reasoning is sent even if the text before it has changed. Its step key never changes, so each of
 * its cache misses counts as unexpected.
 */
function createNaiveCandidate(name: string, transform: Transform): PolicyCandidate {
  return { name, transforms: [transform], dropsInvalidReasoning: false, computeStepKey: () => '' }
}

/** Returns a transform that sends only the leading instructions and the latest `rounds` rounds. */
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
