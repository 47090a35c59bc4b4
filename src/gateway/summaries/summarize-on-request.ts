/**
 * Summarizes a conversation on a client's request, even if the conversation is short: all rounds before those that
 * the policy retains. Throws if the summary cannot be made or stored.
 */
import {
  findSummaryCut,
  type SummaryCut,
} from '../../context/summaries/summary-cut-prompts-and-parser.ts'
import { selectSummarizableItems } from '../../context/summaries/select-summarizable-items.ts'
import type { Caller } from '../../core/client/caller.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { findRoundStarts } from '../../core/items/rounds-and-pinned-items.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { PlannedRequest } from '../prompt/planned-request.ts'
import { hashSummaryPrefixes } from './hash-summary-prefixes.ts'
import { findSummary } from './load-summary.ts'
import {
  makeAndSaveSummary,
  type MadeSummary,
  type SummaryOptions,
  type SummaryPorts,
} from './make-and-save-summary.ts'
import { createSummaryOptions } from './summarize-after-answer.ts'

export interface RequestedSummary {
  /** The new or existing summary; null if there was nothing to summarize. */
  readonly result: MadeSummary | null
  /** The numbers of rounds and items in the complete conversation, including the summarized ones. */
  readonly conversationRounds: number
  readonly conversationItems: number
}

/** Extends the stored summary if there is one. With `replacesExisting`, replaces it by a new summary of all items. */
export async function summarizeOnRequest(
  plan: PlannedRequest,
  caller: Caller,
  request: Pick<SummaryOptions, 'onCall' | 'isDisconnected' | 'replacesExisting'>,
  ports: SummaryPorts,
): Promise<RequestedSummary> {
  const { policy } = plan
  const { replacesExisting } = request
  const content = selectSummarizableItems(plan.items, policy)
  const { items } = content
  const size = {
    conversationRounds: findRoundStarts(items).length,
    conversationItems: items.length,
  }
  const existing = await queryStoreOrThrow(() =>
    findSummary(content, hashSummaryPrefixes(content), caller, ports),
  )
  const cut = replacesExisting
    ? selectLater(findSummaryCut(items, policy.summaries, 0), existing?.prefix ?? null)
    : findSummaryCut(items, policy.summaries, existing?.prefix.endIndex ?? 0)
  if (cut === null)
    return { result: existing === null ? null : { summary: existing, usage: null }, ...size }
  const options: SummaryOptions = {
    ...createSummaryOptions(plan, caller),
    ...request,
    mayStore: true,
    mustBeStored: true,
  }
  const result = await queryStoreOrThrow(
    () => makeAndSaveSummary(plan, content, cut, options, ports),
    NOT_STORED,
  )
  if (result === 'busy') {
    throw new GatewayError(
      'conversation_locked',
      'This conversation is being summed up already. Please retry in a few seconds.',
    )
  }
  return { result, ...size }
}

/** Returns the later of two cuts: a summary that ends before the existing one would never be used. */
function selectLater(one: SummaryCut | null, other: SummaryCut | null): SummaryCut | null {
  if (one === null || other === null) return one ?? other
  return one.endIndex >= other.endIndex ? one : other
}

const NOT_STORED =
  'The summary could not be kept because the database does not answer. Try again in a moment.'
