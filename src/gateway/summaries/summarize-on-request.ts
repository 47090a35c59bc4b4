/**
 * Sums up a conversation because somebody asked for it: all that its policy does not keep word for
 * word, however little it is. What cannot be done is told.
 */
import type { Caller } from '../../core/client/caller.ts'
import { roundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { askMemory } from '../../store/query-store-or-throw.ts'
import { findSummary } from './load-summary.ts'
import { summaryBorders } from './hash-summary-prefixes.ts'
import { summaryCut, type Cut } from '../../context/summaries/plan-and-parse-summary.ts'
import { toBeSummed } from '../../context/summaries/select-summarizable-items.ts'
import type { World } from '../dependencies-interface.ts'
import type { Asking } from '../send/send-with-fallback.ts'
import { makeSummary, type MadeSummary } from './make-and-save-summary.ts'
import type { Planned } from '../prompt/plan-request.ts'
import { wishOf } from './summarize-after-answer.ts'

export interface SummarisedNow {
  /** The one that stands for the beginning now; `null` if there was nothing to sum up. */
  readonly made: MadeSummary | null
  /** How much there is in all. */
  readonly turns: number
  readonly items: number
}

/** `isAnew` writes it again from all that was said, though there be one. */
export async function summariseNow(
  plan: Planned,
  caller: Caller,
  { isAnew, onCall, isGone }: Pick<Asking, 'onCall' | 'isGone'> & { readonly isAnew: boolean },
  world: World,
): Promise<SummarisedNow> {
  const { policy } = plan
  const told = toBeSummed(plan.items, policy)
  const { items } = told
  const size = { turns: roundStarts(items).length, items: items.length }
  const there = await askMemory(() => findSummary(told, summaryBorders(told), caller, world))
  const cut = furthest(
    summaryCut(items, policy.summaries, isAnew ? 0 : (there?.border.at ?? 0)),
    isAnew ? (there?.border ?? null) : null,
  )
  if (cut === null)
    return { made: there === null ? null : { summary: there, usage: null }, ...size }
  const wish = { ...wishOf(plan, caller), isAnew, ...ASKED_FOR, onCall, isGone }
  const made = await askMemory(() => makeSummary(plan, told, cut, wish, world), NOT_KEPT)
  if (made === 'busy') throw busy()
  return { made, ...size }
}

const ASKED_FOR = { isKept: true, isPromised: true } as const

/** One that stood for less than another would never be told. */
function furthest(one: Cut | null, other: Cut | null): Cut | null {
  if (one === null || other === null) return one ?? other
  return one.at >= other.at ? one : other
}

const NOT_KEPT =
  'The summary could not be kept because the database does not answer. Try again in a moment.'

function busy(): GatewayError {
  return new GatewayError(
    'conversation_locked',
    'This conversation is being summed up already. Please retry in a few seconds.',
  )
}
