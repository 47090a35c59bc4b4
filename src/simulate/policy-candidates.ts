/**
 * Who is compared: the policies as the gateway plays them, and two ways to shorten a conversation
 * that are common elsewhere and move their border with every turn.
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
import { filterItems } from '../context/filter-items.ts'
import { listTransforms } from '../context/list-and-run-transforms.ts'
import { shortenOldOutputs } from '../context/tool-outputs/shorten-old-outputs.ts'
import type { Transform } from '../context/transform-interface.ts'
import { SIMULATED_ORIGIN } from './encode-request-text.ts'

export interface PolicyCandidate {
  readonly name: string
  readonly transforms: readonly Transform[]
  /** Whether it leaves reasoning out that has lost its prefix. */
  readonly keepsToPrefix: boolean
  /**
   * While it is the same, what was sent is to be sent again unchanged. It is told from counts alone;
   * `null` where they do not tell it, which is so for a window.
   */
  readonly stepOf: ((said: readonly Item[]) => string) | null
}

const NAIVE: readonly PolicyCandidate[] = [
  naive('sliding-window', slidingWindow(20)),
  naive(
    'trim-by-age',
    shortenOldOutputs({ rounds: 10, step: 1, minChars: 1600, headChars: 800, tailChars: 800 }),
  ),
]

export const CANDIDATE_NAMES: readonly string[] = [
  ...POLICY_NAMES,
  ...NAIVE.map(({ name }) => name),
]

/** All of them, `replay` first. `binds` is whether the model holds its reasoning to its prefix. */
export function listPolicyCandidates(
  binds: boolean,
): readonly [PolicyCandidate, ...(readonly PolicyCandidate[])] {
  const [first, ...others] = POLICY_NAMES.map((name) =>
    createPolicyCandidate(name, PRESETS[name], binds),
  )
  return [first ?? createPolicyCandidate('replay', PRESETS.replay, binds), ...others, ...NAIVE]
}

/** A policy as the gateway plays it. */
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
      ...listTransforms({ policy, reader: { wire, account, compacts: false } }),
      dropInvalidReasoning({
        wire,
        account,
        seed: () => '',
        checksPrefix: binds,
        refusedBefore: [],
      }),
    ],
    keepsToPrefix: binds,
    stepOf: hasWindow ? null : (said) => stepOf(policy, said),
  }
}

function stepOf({ outputs, reasoning, media }: ContextPolicy, said: readonly Item[]): string {
  const turns = findRoundStarts(said).length
  const { keepTurns, step } = outputs
  const border = (keep: number | null, stride: number): number =>
    keep === null ? 0 : Math.max(0, Math.floor((turns - 1 - keep) / stride))
  // What a compaction stands for is decided when another one comes.
  const arrivals = said.filter((item) => item.type === 'opaque').length + mediaOver(media, said)
  const closed = reasoning.keep === 'conversation' ? 0 : turns
  return `${border(keepTurns, step)} ${border(media.keepTurns, media.step)} ${closed} ${arrivals}`
}

/** What is over a limit is decided when another one comes. */
function mediaOver(rules: MediaRules, said: readonly Item[]): number {
  const { window, imageMessages, bytes, repeated, images } = rules
  const count = listMedia(said).length
  const isLimited = [window, imageMessages, bytes].some((limit) => limit !== null)
  if (isLimited || repeated === 'last') return count
  return images === null ? 0 : Math.max(0, count - images)
}

/** It sends all reasoning there is, and has no steps: its border is always on the move. */
function naive(name: string, transform: Transform): PolicyCandidate {
  return { name, transforms: [transform], keepsToPrefix: false, stepOf: () => '' }
}

/** The instructions and the newest turns. */
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
