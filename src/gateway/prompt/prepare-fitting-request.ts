/**
 * Prepares a request that fits the model's context window: a conversation that is too long is summarized,
 * compacted or cut, as the policy and the request allow. Requests that need no answer of the model, e.g. one for
 * a compaction only, get their complete answer here (`localAnswer`).
 */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { Note } from '../../core/note.ts'
import { ZERO_TOKEN_USAGE } from '../../core/stream/add-token-usage.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import type { LoadedHistory } from '../history/loaded-history.ts'
import { rejectOrphanOutputs } from '../history/reject-orphan-outputs.ts'
import type { AnswerEventSource } from '../send/answer-event-source-interface.ts'
import { createLocalAnswer } from '../send/create-local-answer.ts'
import type { SendOptions } from '../send/send-with-fallback.ts'
import type { UpstreamAnswer } from '../send/upstream-answer-types.ts'
import { compactConversationIfDue } from '../summaries/compact-conversation-if-due.ts'
import type { SummaryPorts } from '../summaries/make-and-save-summary.ts'
import { summarizeBeforeSending } from '../summaries/summarize-before-sending.ts'
import { prepareRequest } from './prepare-request.ts'
import type { PreparedRequest } from './planned-request.ts'
import type { RoutedTargets } from './filter-capable-targets.ts'
import { fitToWindow } from './size/fit-to-window.ts'

export interface FittingRequest {
  /** The request for the first target. */
  readonly firstRequest: PreparedRequest
  /** Prepares the request for one of the targets. */
  readonly prepare: (target: UpstreamTarget) => PreparedRequest
  /** The complete answer to a request that the gateway answers itself, e.g. with a compaction; otherwise null. */
  readonly localAnswer: UpstreamAnswer | null
}

interface FittingOptions extends Omit<SendOptions, 'prepare' | 'targets'> {
  readonly targets: RoutedTargets
  readonly caller: Caller
}

export async function prepareFittingRequest(
  clientRequest: ClientRequest,
  loadedHistory: LoadedHistory,
  turnId: string,
  options: FittingOptions,
  ports: SummaryPorts,
): Promise<FittingRequest> {
  const [target] = options.targets
  rejectOrphanOutputs(loadedHistory.items, clientRequest)
  const unsummarized = prepareRequest(target, { clientRequest, history: loadedHistory }, ports)
  if (!clientRequest.generatesAnswer)
    return answerLocally(unsummarized, createLocalAnswer([], ZERO_TOKEN_USAGE))
  const history = await summarizeBeforeSending(unsummarized, options.caller, options, ports)
  const firstRequest =
    history === loadedHistory
      ? unsummarized
      : prepareRequest(target, { clientRequest, history }, ports)
  const { model } = clientRequest.params
  const compaction = await compactConversationIfDue(
    firstRequest,
    { ...options, model },
    turnId,
    ports,
  )
  if (compaction === null || compaction === 'failed') {
    const prepareOther = (other: UpstreamTarget) =>
      fitToWindow(prepareRequest(other, { clientRequest, history }, ports), ports)
    const fitting = fitToWindow(firstRequest, ports)
    const withNote = { ...fitting, notes: [...fitting.notes, COMPACTION_FAILED] }
    return sendTo(target, compaction === null ? fitting : withNote, prepareOther)
  }
  if (clientRequest.overflow?.compactNow === true)
    return answerLocally(firstRequest, createLocalAnswer([compaction.item], compaction.usage))
  const { item } = compaction
  const compacted = { ...clientRequest, items: [...clientRequest.items, item] }
  // Plans with the compaction as last item. The result keeps the original `clientRequest`, because the compaction
  // belongs to the answer (`firstAnswerItem`).
  const prepareOther = (other: UpstreamTarget) => ({
    ...fitToWindow(prepareRequest(other, { clientRequest: compacted, history }, ports), ports),
    clientRequest,
    firstAnswerItem: item,
  })
  return sendTo(target, prepareOther(target), prepareOther)
}

const COMPACTION_FAILED: Note = {
  did: 'dropped',
  field: 'context_management',
  why: 'compaction-failed',
  by: 'compaction',
  detail: 'No summary could be made, so the conversation was sent as it is.',
}

function sendTo(
  target: UpstreamTarget,
  firstRequest: PreparedRequest,
  prepareOther: FittingRequest['prepare'],
): FittingRequest {
  const prepare = (to: UpstreamTarget) => (to === target ? firstRequest : prepareOther(to))
  return { firstRequest, prepare, localAnswer: null }
}

function answerLocally(prepared: PreparedRequest, events: AnswerEventSource): FittingRequest {
  return { firstRequest: prepared, prepare: () => prepared, localAnswer: { prepared, events } }
}
