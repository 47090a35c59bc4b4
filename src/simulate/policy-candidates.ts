/**
 * Who is compared: the policies as the gateway plays them, and two ways to shorten a conversation
 * that are common elsewhere and move their border with every turn.
 */
import { isUserMessage, roundStarts } from '../core/items/rounds-and-pinned-items.ts'
import type { Item } from '../core/item.ts'
import { mediaIn } from '../core/media/media-handles.ts'
import {
  POLICY_NAMES,
  PRESETS,
  type ContextPolicy,
  type MediaRules,
} from '../core/context-policy.ts'
import { keepValidReasoning } from '../context/reasoning/drop-invalid-reasoning.ts'
import { keepWhere } from '../context/filter-items.ts'
import { planFor } from '../context/list-and-run-transforms.ts'
import { shortenToolOutputs } from '../context/tool-outputs/shorten-old-outputs.ts'
import type { Transform } from '../context/transform-interface.ts'
import { MAKER } from './encode-request-text.ts'

export interface Contestant {
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

const NAIVE: readonly Contestant[] = [
  naive('sliding-window', slidingWindow(20)),
  naive(
    'trim-by-age',
    shortenToolOutputs({ rounds: 10, step: 1, minChars: 1600, headChars: 800, tailChars: 800 }),
  ),
]

export const CONTESTANT_NAMES: readonly string[] = [
  ...POLICY_NAMES,
  ...NAIVE.map(({ name }) => name),
]

/** All of them, `replay` first. `binds` is whether the model holds its reasoning to its prefix. */
export function contestantsFor(binds: boolean): readonly [Contestant, ...(readonly Contestant[])] {
  const [first, ...others] = POLICY_NAMES.map((name) => contestantOf(name, PRESETS[name], binds))
  return [first ?? contestantOf('replay', PRESETS.replay, binds), ...others, ...NAIVE]
}

/** A policy as the gateway plays it. */
export function contestantOf(name: string, policy: ContextPolicy, binds: boolean): Contestant {
  const { wire, account } = MAKER
  const hasWindow = Object.values(policy.window).some((limit) => limit !== null)
  return {
    name,
    transforms: [
      ...planFor({ policy, reader: { wire, account, compacts: false } }),
      keepValidReasoning({ wire, account, seed: () => '', checksPrefix: binds, refusedBefore: [] }),
    ],
    keepsToPrefix: binds,
    stepOf: hasWindow ? null : (said) => stepOf(policy, said),
  }
}

function stepOf({ outputs, reasoning, media }: ContextPolicy, said: readonly Item[]): string {
  const turns = roundStarts(said).length
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
  const count = mediaIn(said).length
  const isLimited = [window, imageMessages, bytes].some((limit) => limit !== null)
  if (isLimited || repeated === 'last') return count
  return images === null ? 0 : Math.max(0, count - images)
}

/** It sends all reasoning there is, and has no steps: its border is always on the move. */
function naive(name: string, transform: Transform): Contestant {
  return { name, transforms: [transform], keepsToPrefix: false, stepOf: () => '' }
}

/** The instructions and the newest turns. */
function slidingWindow(turns: number): Transform {
  return {
    name: 'sliding-window',
    run(items) {
      const starts = roundStarts(items)
      const first = starts[Math.max(0, starts.length - turns)] ?? 0
      const head = items.findIndex(isUserMessage)
      return keepWhere(items, (at) => at < head || at >= first, 'windowed')
    },
  }
}
