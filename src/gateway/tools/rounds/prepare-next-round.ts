/**
 * Prepares the upstream request of the next tool round: the prompt of the previous round, the model's
 * items, and the outputs. The prompt is planned again from the complete conversation (`replan-round.ts`) if
 * that exceeds the context window, or if the model has to be warned that the window is nearly full.
 *
 * The tools stay the same, because some models accept their own reasoning only with unchanged tools. In the
 * last round, calls are forbidden (`tool_choice: none`) if all tools are gateway tools.
 */
import { escapeFakeNoticesInItems } from '../../../context/cleaning/escape-fake-notices-in-items.ts'
import { continueTransforms } from '../../../context/list-and-run-transforms.ts'
import { isCompaction } from '../../../core/items/compaction-item.ts'
import { resolveMediaUrlsAndLimits } from '../../../media/resolve-upstream-media-urls-and-limits.ts'
import { dropPreviouslyRejectedParameters } from '../../../providers/request/drop-rejected-parameters.ts'
import type { PlanPorts } from '../../prompt/list-prompt-transforms.ts'
import type { PreparedRequest } from '../../prompt/planned-request.ts'
import { rejectLargeMedia } from '../../prompt/reject-large-media.ts'
import { isBudgetWarningDue } from '../../prompt/size/end-tool-loop-near-full-window.ts'
import { fitsWindow } from '../../prompt/size/fit-to-window.ts'
import { resolveAnswerOrigin } from '../../record/collect-answer-metadata.ts'
import { replacePrompt } from '../../send/replace-prompt.ts'
import { replanRound } from './replan-round.ts'
import type { ToolRound, ToolRounds } from './tool-round.ts'

/** Returns the next upstream request. Throws a GatewayError if the request is too large for the upstream. */
export function prepareNextRound(
  rounds: ToolRounds,
  isLastRound: boolean,
  ports: PlanPorts,
): PreparedRequest {
  const latest = rounds.at(-1) ?? rounds[0]
  const next = continuePrompt(latest, isLastRound)
  const roundTokens = rounds.map(countRoundTokens)
  if (fitsWindow(next) && !isBudgetWarningDue(next, roundTokens))
    return rejectLargeMedia(next, resolveMediaUrlsAndLimits(next.account))
  const replanned = replanRound(rounds, ports)
  return isLastRound ? forbidGatewayTools(replanned) : replanned
}

/**
 * Returns the tokens that the upstream reported for the round. Null if the round has a compaction, because
 * the reported tokens include the items that it replaces.
 */
function countRoundTokens({ modelItems, usage }: ToolRound): number | null {
  return modelItems.some(isCompaction) ? null : (usage?.totalTokens ?? null)
}

function continuePrompt(
  { prepared, modelItems, outputs, mediaTransforms }: ToolRound,
  isLastRound: boolean,
): PreparedRequest {
  const { prompt } = prepared
  const origin = resolveAnswerOrigin(prepared)
  const added = [...modelItems, ...outputs].map((item) => ({ ...item, origin }))
  const items = [...prepared.items, ...added]
  const addedPositions = added.map((_, index) => prepared.items.length + index)
  // The client's next request applies the same transforms to these items, so the provider can use its cache
  // of this prompt.
  const transformed = continueTransforms(
    {
      items: [...prompt.items, ...added],
      notes: [],
      originalPositions: [...prepared.originalPositions, ...addedPositions],
    },
    [escapeFakeNoticesInItems(), ...mediaTransforms],
  )
  const params = isLastRound ? forbidToolCalls(prepared) : prompt.params
  const next = { ...prompt, items: transformed.items, params }
  return {
    ...replacePrompt(prepared, next, transformed.originalPositions, transformed.notes),
    items,
    wasReasoningRejected: false,
  }
}

function forbidGatewayTools(prepared: PreparedRequest): PreparedRequest {
  const { prompt, provider, account } = prepared
  const params = forbidToolCalls(prepared)
  if (params === prompt.params) return prepared
  const next = { ...prompt, params }
  const encoded = dropPreviouslyRejectedParameters(provider.encode(next, account), prepared.notes)
  return { ...prepared, prompt: next, encoded }
}

/**
 * Returns the parameters with `tool_choice: none`. Returns them unchanged if the client has tools of its
 * own, or if there are no tools.
 */
function forbidToolCalls({
  prompt: { params },
  gatewayTools,
}: PreparedRequest): PreparedRequest['prompt']['params'] {
  const hasOnlyGatewayTools = gatewayTools.length > 0 && params.tools.length === gatewayTools.length
  return hasOnlyGatewayTools ? { ...params, toolChoice: { type: 'none' } } : params
}
