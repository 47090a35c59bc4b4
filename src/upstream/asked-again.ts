/**
 * What an upstream is asked again in the middle of its answer: the very prompt that it was asked with,
 * and behind it what it has said since then, with what it was answered. Where that does not fit the
 * model's window any more, or the model has to be told that it is nearly full, the whole conversation
 * goes through its plan again (`plan-again.ts`), and the rounds that follow go on from there.
 *
 * The tools stay the same to the last, for there are models that take their own reasoning back only
 * behind the same tools. One that has none but those of the house is then forbidden to call any.
 */
import { isCompaction } from '../conversation/compaction.ts'
import type { Item } from '../conversation/item.ts'
import type { HeldRound } from '../house-tools/join-rounds.ts'
import type { LoadedMedia } from '../media/loaded-media.ts'
import { withoutRefusedBefore } from '../provider/degrade.ts'
import { defuseNotices } from '../rebuild/defuse-notices.ts'
import { rebuildOn } from '../rebuild/plan.ts'
import type { Transform } from '../rebuild/transform.ts'
import type { World } from '../world.ts'
import { isWarningDue } from './budget-exit.ts'
import { clientNotes } from './client-notes.ts'
import { isFitting } from './fit.ts'
import { originOf } from './made-of.ts'
import { planAgain } from './plan-again.ts'
import type { Prepared } from './prepare.ts'
import { refuseTooLarge } from './refuse-too-large.ts'

/** A round that is over, with what its calls were answered. */
export interface Round extends Pick<HeldRound, 'said' | 'usage'> {
  /** As it was sent. */
  readonly prepared: Prepared
  readonly outputs: readonly Item[]
  /** What is done to media, if there are any among the outputs. */
  readonly media: readonly Transform[]
  /** What had to be loaded of them. */
  readonly loaded: LoadedMedia | null
}

export type Rounds = readonly [Round, ...Round[]]

/** Throws a GatewayError for more than can be sent. */
export function askedAgain(rounds: Rounds, isLast: boolean, world: World): Prepared {
  const newest = rounds.at(-1) ?? rounds[0]
  const next = goneOn(newest, isLast)
  const counted = rounds.map(countedIn)
  if (isFitting(next) && !isWarningDue(next, counted)) return refuseTooLarge(next)
  const anew = planAgain(rounds, world)
  return isLast ? forbidden(anew) : anew
}

/** What a compaction was made of is counted with its round, and is not there any more. */
function countedIn({ said, usage }: Round): number | null {
  return said.some(isCompaction) ? null : (usage?.totalTokens ?? null)
}

function goneOn({ prepared, said, outputs, media }: Round, isLast: boolean): Prepared {
  const { prompt, provider, account, inbound } = prepared
  const origin = originOf(prepared)
  const more = [...said, ...outputs].map((item) => ({ ...item, origin }))
  const items = [...prepared.items, ...more]
  const added = more.map((_, at) => prepared.items.length + at)
  const asked = [...prompt.items, ...more]
  const before = { items: asked, notes: [], places: [...prepared.places, ...added] }
  // As the plan of the next turn will have it.
  const rebuilt = rebuildOn(before, [defuseNotices(), ...media])
  const params = isLast ? paramsWithout(prepared) : prompt.params
  const next = { ...prompt, items: rebuilt.items, params }
  const encoded = withoutRefusedBefore(provider.encode(next, account), prepared.notes)
  const { places } = rebuilt
  // What was noted on the body of the round before does not hold for this one.
  const lasting = prepared.notes.filter(({ by }) => by !== provider.wire)
  const ofBody = clientNotes(encoded.notes, places, inbound.body)
  const notes = [...lasting, ...rebuilt.notes, ...ofBody]
  return { ...prepared, items, prompt: next, encoded, places, notes, reasoningRefused: false }
}

function forbidden(prepared: Prepared): Prepared {
  const { prompt, provider, account } = prepared
  const params = paramsWithout(prepared)
  if (params === prompt.params) return prepared
  const next = { ...prompt, params }
  const encoded = withoutRefusedBefore(provider.encode(next, account), prepared.notes)
  return { ...prepared, prompt: next, encoded }
}

/** The very same, if its client has tools as well, or there are none. */
function paramsWithout({ prompt: { params }, house }: Prepared): Prepared['prompt']['params'] {
  const isForbidden = house.length > 0 && params.tools.length === house.length
  return isForbidden ? { ...params, toolChoice: { type: 'none' } } : params
}
