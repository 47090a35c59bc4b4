/**
 * Sums up a conversation because somebody asked for it: all that its policy does not keep word for
 * word, however little it is. What cannot be done is told.
 */
import { findSummaryCut, type SummaryCut } from '../../context/summaries/plan-and-parse-summary.ts'
import { selectSummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { PlannedRequest } from '../prompt/planned-request.ts'
import type { SendOptions } from '../send/send-with-fallback.ts'
import { hashSummaryPrefixes } from './hash-summary-prefixes.ts'
import { findSummary } from './load-summary.ts'
import { makeAndSaveSummary, type MadeSummary } from './make-and-save-summary.ts'
import { createSummaryOptions } from './summarize-after-answer.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface RequestedSummary {
  /** The one that stands for the beginning now; `null` if there was nothing to sum up. */
  readonly made: MadeSummary | null
  /** How much there is in all. */
  readonly turns: number
  readonly items: number
}

/** `isAnew` writes it again from all that was said, though there be one. */
export async function summarizeOnRequest(
  plan: PlannedRequest,
  caller: Caller,
  {
    isAnew,
    onCall,
    isDisconnected,
  }: Pick<SendOptions, 'onCall' | 'isDisconnected'> & { readonly isAnew: boolean },
  ports: Ports<
    | 'accounts'
    | 'facts'
    | 'log'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'summaries'
    | 'transport'
  >,
): Promise<RequestedSummary> {
  const { policy } = plan
  const told = selectSummarizableItems(plan.items, policy)
  const { items } = told
  const size = { turns: findRoundStarts(items).length, items: items.length }
  const there = await queryStoreOrThrow(() =>
    findSummary(told, hashSummaryPrefixes(told), caller, ports),
  )
  const cut = furthest(
    findSummaryCut(items, policy.summaries, isAnew ? 0 : (there?.border.at ?? 0)),
    isAnew ? (there?.border ?? null) : null,
  )
  if (cut === null)
    return { made: there === null ? null : { summary: there, usage: null }, ...size }
  const wish = {
    ...createSummaryOptions(plan, caller),
    isAnew,
    ...ASKED_FOR,
    onCall,
    isDisconnected,
  }
  const made = await queryStoreOrThrow(
    () => makeAndSaveSummary(plan, told, cut, wish, ports),
    NOT_KEPT,
  )
  if (made === 'busy') throw busy()
  return { made, ...size }
}

const ASKED_FOR = { isKept: true, isPromised: true } as const

/** One that stood for less than another would never be told. */
function furthest(one: SummaryCut | null, other: SummaryCut | null): SummaryCut | null {
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
