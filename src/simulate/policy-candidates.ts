/**
 * Lists the policies that are compared: the gateway's presets and two common ways to shorten a
 * conversation that move their cutoff every turn.
 */
import { isUserMessage, findRoundStarts } from '../core/items/rounds-and-pinned-items.ts'
import type { Item } from '../core/item.ts'
import { listMedia } from '../core/media/media-handles.ts'
import {
  POLICY_NAMES,
  PRESETS,
  type ContextPolicy,
  type MediaRules,
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
  readonly keepsToPrefix: boolean
  /**
   * Returns a key of the policy's present step, computed from item counts alone. While the key stays
   * the same, everything that was sent must be sent again unchanged. Null if counts are not enough, as
   * for a window.
   */
  readonly stepOf: ((items: readonly Item[]) => string) | null
}

const BASELINES: readonly PolicyCandidate[] = [
  createNaiveCandidate('sliding-window', slidingWindow(20)),
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
 * Lists all candidates, `replay` first. `binds`: the model accepts reasoning only after its original
 * prefix.
 */
export function listPolicyCandidates(
  binds: boolean,
): readonly [PolicyCandidate, ...(readonly PolicyCandidate[])] {
  const [first, ...others] = POLICY_NAMES.map((name) =>
    createPolicyCandidate(name, PRESETS[name], binds),
  )
  return [first ?? createPolicyCandidate('replay', PRESETS.replay, binds), ...others, ...BASELINES]
}

/** Creates a candidate that runs the gateway's own transforms. */
export function createPolicyCandidate(
  name: string,
  policy: ContextPolicy,
  binds: boolean,
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
        checksPrefix: binds,
        answersAfterRejection: [],
      }),
    ],
    keepsToPrefix: binds,
    stepOf: hasWindow ? null : (items) => stepOf(policy, items),
  }
}

function stepOf({ outputs, reasoning, media }: ContextPolicy, items: readonly Item[]): string {
  const turns = findRoundStarts(items).length
  const { keepTurns, step } = outputs
  const countCutoffSteps = (keep: number | null, stride: number): number =>
    keep === null ? 0 : Math.max(0, Math.floor((turns - 1 - keep) / stride))
  // A new compaction item or hidden medium changes what is sent.
  const arrivals =
    items.filter((item) => item.type === 'opaque').length + countExcessMedia(media, items)
  const closedTurns = reasoning.keep === 'conversation' ? 0 : turns
  return `${countCutoffSteps(keepTurns, step)} ${countCutoffSteps(media.keepTurns, media.step)} ${closedTurns} ${arrivals}`
}

/** Counts media that exceed a limit; each new one changes which are hidden. */
function countExcessMedia(rules: MediaRules, items: readonly Item[]): number {
  const { window, imageMessages, bytes, repeated, images } = rules
  const count = listMedia(items).length
  const isLimited = [window, imageMessages, bytes].some((limit) => limit !== null)
  if (isLimited || repeated === 'last') return count
  return images === null ? 0 : Math.max(0, count - images)
}

/** Sends all reasoning and moves its cutoff every turn, so it has no steps. */
function createNaiveCandidate(name: string, transform: Transform): PolicyCandidate {
  return { name, transforms: [transform], keepsToPrefix: false, stepOf: () => '' }
}

/** Keeps the instructions and the latest turns. */
function slidingWindow(turns: number): Transform {
  return {
    name: 'sliding-window',
    run(items) {
      const starts = findRoundStarts(items)
      const first = starts[Math.max(0, starts.length - turns)] ?? 0
      const head = items.findIndex(isUserMessage)
      return filterItems(items, (at) => at < head || at >= first, 'windowed')
    },
  }
}
