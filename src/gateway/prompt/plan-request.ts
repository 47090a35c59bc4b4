/**
 * Plans the request for one upstream: resolves the policy, offers gateway tools, and transforms the items.
 * `encode-planned-request.ts` encodes the result for the upstream's API.
 */
import { runTransforms } from '../../context/list-and-run-transforms.ts'
import { findPrefixChange } from '../../context/reasoning/find-prefix-change.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import type { Item } from '../../core/item.ts'
import { patchList } from '../../core/json/patch-object.ts'
import { removeMarkers } from '../../core/markers/remove-markers.ts'
import type { Note } from '../../core/note.ts'
import type { PromptParameters, Prompt } from '../../core/prompt.ts'
import { escapeFakeNoticesInJson } from '../../core/text/gateway-notice.ts'
import { addAccountStopSequences } from '../../providers/request/add-account-stop-sequences.ts'
import { recordHiddenAuthorsInCompactions } from '../../providers/response/record-hidden-authors-in-compactions.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import { resolveTargetCapabilities } from '../../upstream/resolve-target-capabilities.ts'
import { mayStoreMemory } from '../history/memory-thread-and-storage-permission.ts'
import { offerTools, type ToolOffer } from '../tools/offer-tools.ts'
import {
  addParameters,
  chooseAddedParameters,
  createAddedParameterNote,
} from './default-parameters.ts'
import { listPromptTransforms, type PlanPorts } from './list-prompt-transforms.ts'
import type { PlannedRequest, PlanInput } from './planned-request.ts'
import { rejectBrokenImages } from './reject-broken-images.ts'
import { rejectEmptyPrompt } from './reject-empty-prompt.ts'
import { rejectLargeMedia } from './reject-large-media.ts'
import { resolveRequestPolicy } from './resolve-request-policy.ts'
import { forbidToolsAfterWarning, planToolLoopEnd } from './size/end-tool-loop-near-full-window.ts'
import { computeCompactionThreshold } from './size/upstream-compaction-threshold.ts'

/** Throws a GatewayError if the prompt has nothing to answer, or media that are too large for the upstream. */
export function planRequest(
  target: UpstreamTarget,
  input: PlanInput,
  ports: PlanPorts,
): PlannedRequest {
  const capabilities = resolveTargetCapabilities(target)
  const { account } = capabilities
  const { clientRequest, history, tokenBudget = null } = input
  // Without a history, uses the request's list object, by which encoders recognize a prompt without changes.
  const items =
    history.items.length > 0 ? [...history.items, ...clientRequest.items] : clientRequest.items
  const requestedPolicy = resolveRequestPolicy(target.model, input, ports.settings)
  const addedParameters = chooseAddedParameters(target, clientRequest, ports)
  const selected = addParameters(selectParameters(target, clientRequest), addedParameters)
  const cleaned = cleanParameters(selected)
  const mayStore = mayStoreMemory(clientRequest, history, ports.settings)
  const offerToolsFor = (conversation: readonly Item[]): ToolOffer =>
    offerTools({
      policy: requestedPolicy,
      clientParams: cleaned.params,
      visibleMediaKinds: capabilities.mediaKinds,
      items: conversation,
      isTask: clientRequest.client.isTask,
      mayStore,
    })
  const offer = offerToolsFor(items)
  const { policy, tools: gatewayTools } = offer
  const loopEnd = planToolLoopEnd(target, { items, policy: requestedPolicy, history })
  const { params, notes: budgetNotes } = forbidToolsAfterWarning(offer.params, loopEnd)
  const transforms = listPromptTransforms(
    capabilities,
    {
      policy,
      params,
      items,
      history,
      tokenBudget,
      budgetWarningTransforms: loopEnd.transforms,
      hadSameTools: (itemCount) =>
        gatewayTools.length === 0 ||
        offerToolsFor(items.slice(0, itemCount)).tools.length === gatewayTools.length,
    },
    ports,
  )
  const { items: sentItems, notes, originalPositions } = runTransforms(items, transforms)
  const compactAbove = computeCompactionThreshold(capabilities, { clientRequest, history, policy })
  const prompt = buildPrompt(clientRequest, {
    items: sentItems,
    params,
    ...(compactAbove === null ? {} : { compactAbove }),
  })
  const { wire, name } = account
  const transformed = { items, sentItems, originalPositions, notes, params }
  const prefixChange = capabilities.checksReasoningPrefix
    ? findPrefixChange(transformed, { wire, account: name, model: params.model })
    : null
  const planned: PlannedRequest = {
    clientRequest,
    account,
    provider: recordHiddenAuthorsInCompactions(capabilities.provider, policy.speakers.hidden),
    history,
    policy,
    gatewayTools,
    items,
    prompt,
    notes: [
      ...history.notes,
      ...cleaned.notes,
      ...addedParameters.map(createAddedParameterNote),
      ...notes,
      ...((prefixChange?.lostCount ?? 0) > 0 ? [NEWLY_LOST_NOTE] : []),
      ...(history.layers?.notes ?? []),
      ...offer.notes,
      ...budgetNotes,
    ],
    addedParameters,
    originalPositions,
    prefixChange,
    wasReasoningRejected: false,
  }
  const sendable = rejectBrokenImages(rejectEmptyPrompt(planned))
  return rejectLargeMedia(sendable, capabilities.mediaSupport)
}

function selectParameters(
  { account, model }: UpstreamTarget,
  { params }: ClientRequest,
): PromptParameters {
  const withStops = addAccountStopSequences(params, account)
  return model === withStops.model ? withStops : { ...withStops, model }
}

function buildPrompt(
  clientRequest: ClientRequest,
  sent: Pick<Prompt, 'items' | 'params' | 'compactAbove'>,
): Prompt {
  const { stream, dialect, body, bytes, client, params } = clientRequest
  const { items, originalItems = items } = clientRequest
  const source = { dialect, body, bytes, items: originalItems, params }
  return { ...sent, stream, wantsUsage: client.isOpenWebUi, source }
}

/**
 * Removes markers from the instructions: Open WebUI copies the messages of a channel into them, markers included.
 * Escapes texts in tools that imitate a notice of the gateway: a client may take descriptions from other servers.
 * Returns the same `params` object if nothing changes.
 */
function cleanParameters(params: PromptParameters): {
  readonly params: PromptParameters
  readonly notes: readonly Note[]
} {
  const instructions = params.instructions === null ? null : removeMarkers(params.instructions)
  const tools = patchList(params.tools, escapeFakeNoticesInJson)
  const notes: readonly Note[] = [
    ...(instructions === params.instructions ? [] : [INSTRUCTIONS_NOTE]),
    ...(tools === params.tools ? [] : [TOOLS_NOTE]),
  ]
  return notes.length === 0
    ? { params, notes }
    : { params: { ...params, instructions, tools }, notes }
}

/** The items themselves have notes, too, in this request and in all later ones. */
const NEWLY_LOST_NOTE: Note = {
  did: 'dropped',
  why: 'reasoning-newly-lost',
  by: 'keep-valid-reasoning',
}

const INSTRUCTIONS_NOTE: Note = { did: 'changed', field: 'instructions', why: 'marker-removed' }
const TOOLS_NOTE: Note = { did: 'changed', field: 'tools', why: 'notice-defused' }
