/**
 * What of all that there is an upstream will be sent: what is remembered, what of it is left out, and
 * what is put beside it. Nothing is said in the upstream's wire yet (`encode-planned-request.ts`).
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import type { PromptParameters, Prompt } from '../../core/prompt.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import { forbidToolsAfterWarning, planToolLoopEnd } from './size/end-tool-loop-near-limit.ts'
import { computeCompactionThreshold } from './size/upstream-compaction-threshold.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { LoadedHistory } from '../history/load-history-by-id.ts'
import type { RequestHistory } from '../history/load-request-history.ts'
import { mayStoreMemory } from '../history/memory-thread-and-storage-permission.ts'
import { listUpstreamMediaTransforms } from './list-upstream-media-transforms.ts'
import type { ToolOfferContext, GatewayTool } from '../tools/gateway-tool-interface.ts'
import { offerTools, type ToolOffer } from '../tools/offer-tools.ts'
import { requiresUnchangedReasoningPrefix } from '../../providers/requires-unchanged-reasoning-prefix.ts'
import { recordHiddenAuthorsInCompactions } from '../../providers/response/record-hidden-authors-in-compactions.ts'
import type { Account, Provider } from '../../providers/provider-interface.ts'
import { PROVIDERS } from '../../providers/registry.ts'
import { addAccountStopSequences } from '../../providers/request/add-account-stop-sequences.ts'
import { moveItemsAfterCompaction } from '../../context/summaries/move-items-after-compaction.ts'
import {
  dropInvalidReasoning,
  type ReasoningValidity,
} from '../../context/reasoning/drop-invalid-reasoning.ts'
import {
  recomputePrefixes,
  type PrefixHistory,
} from '../../context/reasoning/recompute-prefixes.ts'
import {
  listAdditionTransforms,
  listTransforms,
  runTransforms,
  continueTransforms,
  type PipelineResult,
  type TransformListOptions,
} from '../../context/list-and-run-transforms.ts'
import { computePrefixSeed } from '../../context/reasoning/hash-prompt-prefix.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { resolveRequestPolicy } from './resolve-request-policy.ts'
import { resolveMediaKinds } from '../../upstream/model-media-kinds.ts'
import { stripInstructionMarkers } from './strip-instruction-markers.ts'
import { describeCompactionSupport } from './describe-compaction-support.ts'
import { rejectEmptyPrompt } from './reject-empty-prompt.ts'
import { selectSummary } from '../summaries/add-summary-to-history.ts'
import { rejectLargeMedia } from './reject-large-media.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { GatewayDependencies } from '../dependencies-interface.ts'
import { listLayerTransforms } from './additions/load-memory-blocks.ts'

export interface PlannedRequest {
  readonly clientRequest: ClientRequest
  readonly account: Account
  readonly provider: Provider
  readonly history: LoadedHistory
  readonly policy: ContextPolicy
  /** The tools among those of the prompt that the gateway answers. */
  readonly gatewayTools: readonly GatewayTool[]
  /** Everything there is, before anything is left out. */
  readonly items: readonly Item[]
  readonly prompt: Prompt
  readonly notes: readonly Note[]
  /** Where each item of the prompt stands in `items`; `null` for one that was added. */
  readonly originalPositions: readonly (number | null)[]
  /** What the answer begins with, in front of all that its model says. */
  readonly answerPrefix?: Item
  /** Whether the upstream has refused reasoning that stood in the prompt before. */
  readonly wasReasoningRejected: boolean
}

/** A request, with what is remembered for it. */
export interface PlanInput extends Pick<RequestHistory, 'clientRequest' | 'history'> {
  /** What it is to fit, in tokens as items are weighed; without a word, it may be as long as it is. */
  readonly tokenBudget?: number | null
}

/** Throws a GatewayError for what cannot be sent. */
export function planRequest(
  target: UpstreamTarget,
  asked: PlanInput,
  world: GatewayDependencies,
): PlannedRequest {
  const { account, model } = target
  const { clientRequest, history, tokenBudget = null } = asked
  // The very same list, if there is nothing to add: that is how a wire knows that nothing changed.
  const items =
    history.items.length > 0 ? [...history.items, ...clientRequest.items] : clientRequest.items
  const wished = resolveRequestPolicy(model, asked, world.settings)
  const provider = recordHiddenAuthorsInCompactions(PROVIDERS[account.wire], wished.speakers.hidden)
  const said = stripInstructionMarkers(paramsFor(target, clientRequest))
  const sees = resolveMediaKinds(account, model)
  const offer = offerOf({ policy: wished, params: said.params, sees }, asked, world)
  const { params: offered, policy, tools: gatewayTools, notes: ofOffer } = offer(items)
  const wayOut = planToolLoopEnd(target, { items, policy: wished, history })
  const { params, notes: ofBudget } = forbidToolsAfterWarning(offered, wayOut)
  const steps = [
    ...stepsFor(target, { items, policy, history, sees, room: tokenBudget }, world),
    // Behind all that stands beside the conversation.
    ...wayOut.steps,
  ]
  const changed = runTransforms(items, steps)
  const toolsOf = (length: number) => offer(items.slice(0, length)).tools
  const past = pastOf(changed, gatewayTools, toolsOf)
  const validity = { ...validityFor(account, params, history), past }
  // Last, because every change before it is one of the prefix that reasoning is bound to.
  const rebuilt = continueTransforms(changed, [dropInvalidReasoning(validity)])
  const compactAbove = computeCompactionThreshold(target, { clientRequest, history, policy })
  const compacting = compactAbove === null ? {} : { compactAbove }
  const prompt = promptOf(clientRequest, { items: rebuilt.items, params, ...compacting })
  const { places: originalPositions } = rebuilt
  const notes = [
    ...history.notes,
    ...said.notes,
    ...rebuilt.notes,
    ...(history.layers?.notes ?? []),
    ...ofOffer,
    ...ofBudget,
  ]
  const plan = { clientRequest, account, provider, history, policy, gatewayTools, items }
  const sent = { prompt, notes, originalPositions, wasReasoningRejected: false }
  return rejectLargeMedia(rejectEmptyPrompt({ ...plan, ...sent }))
}

function paramsFor(
  { account, model }: UpstreamTarget,
  { params }: ClientRequest,
): PromptParameters {
  const own = addAccountStopSequences(params, account)
  return model === own.model ? own : { ...own, model }
}

/** Which tools stand in front of so much of the conversation. */
function offerOf(
  offering: Pick<ToolOfferContext, 'policy' | 'params' | 'sees'>,
  { clientRequest, history }: PlanInput,
  { settings }: GatewayDependencies,
): (items: readonly Item[]) => ToolOffer {
  const { isTask } = clientRequest.client
  const mayKeep = mayStoreMemory(clientRequest, history, settings)
  return (items) => offerTools({ ...offering, items, isTask, mayKeep })
}

type Rebuilding = Pick<PlannedRequest, 'items' | 'policy' | 'history'> &
  Required<Pick<TransformListOptions, 'sees' | 'room'>>

function stepsFor(
  target: UpstreamTarget,
  { items, policy, history, sees, room }: Rebuilding,
  world: GatewayDependencies,
): readonly Transform[] {
  const { account } = target
  return [
    ...listTransforms({
      ...rulesOf(policy, target, world.settings),
      summary: selectSummary(policy, history),
      sees,
      room,
      // Media are named by their place in all that there is.
      conversation: items,
    }),
    // Behind what decides which media are shown at all.
    ...listUpstreamMediaTransforms(account, history.media ?? null, world.settings),
    ...listAdditionTransforms(policy),
    // Behind notes, which count the messages behind them.
    ...listLayerTransforms(policy, history, items, world),
    // Behind all that may stand in front of what the upstream has compacted, and would not be read.
    ...(PROVIDERS[account.wire].ignoresItemsBeforeCompaction === true
      ? [moveItemsAfterCompaction()]
      : []),
  ]
}

/** As it was then, if the same tools stood in front. */
function pastOf(
  changed: PipelineResult,
  house: readonly GatewayTool[],
  toolsOf: (length: number) => readonly GatewayTool[],
): PrefixHistory {
  const past = recomputePrefixes(changed)
  if (house.length === 0) return past
  const had = (length: number) => toolsOf(length).length === house.length
  return { ...past, sentOf: (length) => (had(length) ? past.sentOf(length) : null) }
}

function promptOf(
  clientRequest: ClientRequest,
  sent: Pick<Prompt, 'items' | 'params' | 'compactAbove'>,
): Prompt {
  const { stream, dialect, body, bytes, client } = clientRequest
  const { items: asked, originalItems = asked, params: said } = clientRequest
  const source = { dialect, body, bytes, items: originalItems, params: said }
  return { ...sent, stream, wantsUsage: client.isOpenWebUi, source }
}

function validityFor(
  account: Account,
  params: PromptParameters,
  { reasoningRejections }: LoadedHistory,
): ReasoningValidity {
  const { wire, name } = account
  return {
    wire,
    account: name,
    seed: () => computePrefixSeed(params, wire),
    checksPrefix: requiresUnchangedReasoningPrefix(account, PROVIDERS[wire], params.model),
    refusedBefore: reasoningRejections.flatMap((refusal) =>
      refusal.account === name ? refusal.origin : [],
    ),
  }
}

function rulesOf(
  policy: ContextPolicy,
  target: UpstreamTarget,
  settings: Settings,
): TransformListOptions {
  return {
    policy,
    unansweredCalls: settings.UNANSWERED_CALLS,
    hasNames: PROVIDERS[target.account.wire].acceptsAuthorNames?.(target.account) ?? false,
    reader: describeCompactionSupport(target),
  }
}
