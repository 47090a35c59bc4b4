/**
 * A request made ready: a conversation that has grown too long is compacted or cut, as far as the
 * request wants it, and a request that no model is to answer has its answer already.
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
import {
  compactIfDue,
  startAnswerWithCompaction,
  appendCompaction,
} from '../summaries/compact-conversation.ts'
import { summarizeBeforeSending } from '../summaries/summarize-before-sending.ts'
import { prepareRequest } from './prepare-request.ts'
import type { PreparedRequest } from './planned-request.ts'
import { fitToWindow } from './size/fit-to-window.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface FittingRequest {
  /** For the target that is asked first. */
  readonly first: PreparedRequest
  /** For any of them. */
  readonly prepare: (target: UpstreamTarget) => PreparedRequest
  /** The answer, if it needs no model. */
  readonly localAnswer: UpstreamAnswer | null
}

type Targets = Omit<SendOptions, 'prepare' | 'targets'> & {
  readonly targets: readonly [UpstreamTarget, ...UpstreamTarget[]]
  readonly caller: Caller
}

export async function prepareFittingRequest(
  clientRequest: ClientRequest,
  remembered: LoadedHistory,
  turnId: string,
  asking: Targets,
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
): Promise<FittingRequest> {
  const [target] = asking.targets
  rejectOrphanOutputs(remembered.items, clientRequest)
  const unsummarised = prepareRequest(target, { clientRequest, history: remembered }, ports)
  if (!clientRequest.generatesAnswer)
    return whole(unsummarised, createLocalAnswer([], ZERO_TOKEN_USAGE))
  const history = await summarizeBeforeSending(unsummarised, asking.caller, asking, ports)
  const first =
    history === remembered
      ? unsummarised
      : prepareRequest(target, { clientRequest, history }, ports)
  const { model } = clientRequest.params
  const compacted = await compactIfDue(first, { ...asking, model }, turnId, ports)
  if (compacted === null || compacted === 'failed') {
    const prepareOther = (other: UpstreamTarget) =>
      fitToWindow(prepareRequest(other, { clientRequest, history }, ports), ports)
    const fitting = fitToWindow(first, ports)
    const noted = { ...fitting, notes: [...fitting.notes, FAILED] }
    return ready(target, compacted === null ? fitting : noted, prepareOther)
  }
  if (clientRequest.overflow?.compactNow === true) {
    return whole(first, createLocalAnswer([compacted.item], compacted.usage))
  }
  const shorter = appendCompaction(clientRequest, compacted)
  const prepareOther = (other: UpstreamTarget) =>
    startAnswerWithCompaction(
      fitToWindow(prepareRequest(other, { clientRequest: shorter, history }, ports), ports),
      compacted,
      clientRequest,
    )
  return ready(target, prepareOther(target), prepareOther)
}

const FAILED: Note = {
  did: 'dropped',
  field: 'context_management',
  why: 'compaction-failed',
  by: 'compaction',
  detail: 'No summary could be made, so the conversation was sent as it is.',
}

function ready(
  target: UpstreamTarget,
  first: PreparedRequest,
  prepareOther: FittingRequest['prepare'],
): FittingRequest {
  return { first, prepare: (to) => (to === target ? first : prepareOther(to)), localAnswer: null }
}

function whole(first: PreparedRequest, events: AnswerEventSource): FittingRequest {
  return { first, prepare: () => first, localAnswer: { prepared: first, events } }
}
