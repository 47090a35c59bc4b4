/**
 * Answers one request: loads its history, plans and sends the upstream request, writes the answer to the
 * client, and stores the turn. Each step is one function call.
 */
import type { ClientRequest } from '../core/client-request.ts'
import type { Caller } from '../core/client/caller.ts'
import { createDatabaseFailure } from '../core/errors/database-error.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { createOutcomeCollector, type Outcome } from '../core/collect-answer-outcome.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import { mayOmitResponseFields } from '../providers/openai-responses/may-omit-response-fields.ts'
import type { TurnStore } from '../store/turns/turn-store-interface.ts'
import { routeModel } from '../upstream/accounts-and-model-routing.ts'
import { adaptUnknownModelError } from '../upstream/errors/adapt-unknown-model-error.ts'
import { updateMemoryLayers } from './after-answer/update-memory-layers.ts'
import type { GatewayDependencies, Ports } from './dependencies-interface.ts'
import { loadRequestHistory } from './history/load-request-history.ts'
import type { LoadedHistory } from './history/loaded-history.ts'
import { rejectOrphanOutputs } from './history/reject-orphan-outputs.ts'
import { lockRequestConversation, type ConversationLock } from './history/lock-conversation.ts'
import { touchLoadedTurns } from './history/touch-loaded-turns.ts'
import type { HttpExchange } from './http-exchange-interface.ts'
import { logWithRequestId } from './request-id.ts'
import { yieldIfLarge, type RequestMemory } from './request-memory.ts'
import { countLoadedMemory } from './count-loaded-memory.ts'
import { loadPromptAdditions } from './prompt/additions/load-prompt-additions.ts'
import { listLostFields } from './prompt/list-lost-fields.ts'
import { prepareFittingRequest } from './prompt/prepare-fitting-request.ts'
import { prepareRequest } from './prompt/prepare-request.ts'
import type { PreparedRequest } from './prompt/planned-request.ts'
import {
  filterCapableTargets,
  type RoutedTargets,
  type UnsupportedFeatureRule,
} from './prompt/filter-capable-targets.ts'
import { collectAnswerMetadata, resolveAnswerOrigin } from './record/collect-answer-metadata.ts'
import { chooseRecorder, type RecordForConnection } from './record/choose-recorder.ts'
import { startParentSearch, type ParentSearch } from './record/find-parent-turn.ts'
import type { Recorder } from './record/recorder-interface.ts'
import { selectEventFilters } from './respond/event-filters/select-event-filters.ts'
import { showsStatusLines } from './respond/choose-open-webui-status.ts'
import { loadRequestRemarks } from './respond/load-request-remarks.ts'
import { logUpstreamFailure, respondToClient } from './respond/respond-to-client.ts'
import { cancelOnDisconnect } from './send/cancel-on-disconnect.ts'
import { limitRequestTime } from './send/limit-request-time.ts'
import { summarizeAfterAnswer } from './summaries/summarize-after-answer.ts'
import { sendWithTools } from './tools/send-with-tools.ts'
import type { AfterAnswerTask } from './after-answer/run-tasks-after-answer.ts'

export interface AnswerRequest {
  readonly dialect: Dialect
  readonly clientRequest: ClientRequest
  readonly caller: Caller
  readonly exchange: HttpExchange
  readonly memory: RequestMemory
  readonly options?: RequestHeaderOptions
  /** The id and time of the answer; created if undefined. */
  readonly identity?: AnswerIdentity
  /**
   * The store for the turn; the database if undefined. A background run passes a store that writes the turn
   * together with the run's event log.
   */
  readonly turnStore?: TurnStore
  /** True if the request is only checked and stored now, because its run is queued. */
  readonly isAnsweredLater?: boolean
  /** True for a background run, which has a time limit of its own. */
  readonly isBackground?: boolean
  /** For a WebSocket: keeps an unstored answer in memory, so that the connection's next request can continue it. */
  readonly recordForConnection?: RecordForConnection
  /**
   * For a request with an `Idempotency-Key`: called with the outcome of the answer once its turn is closed, and with
   * the client's fields that were lost. Such an answer is stored, if that is allowed, even if it has only text, so that
   * a retry receives it.
   */
  readonly onSettled?: (outcome: Outcome, lostFields: readonly string[]) => void
}

/** Options that the client sets with request headers. */
export interface RequestHeaderOptions {
  /** The rule for features that the upstream lacks, e.g. audio; the setting `UNSUPPORTED` if undefined. */
  readonly unsupportedFeatureRule?: UnsupportedFeatureRule
  /** True if the response gets the header `x-backstory-context`, a summary of the prompt. */
  readonly addsContextHeader?: boolean
}

/** The id and time of an answer. The response that the client gets and the stored turn both have them. */
export interface AnswerIdentity {
  readonly turnId: string
  readonly createdAtMs: number
}

export function createAnswerIdentity(ports: Ports<'newTurnId' | 'nowMs'>): AnswerIdentity {
  return { turnId: ports.newTurnId(), createdAtMs: ports.nowMs() }
}

export async function answerRequest(
  request: AnswerRequest,
  dependencies: GatewayDependencies,
): Promise<Response> {
  const { caller, exchange, turnStore = dependencies.store } = request
  const { waitUntil } = exchange
  const identity = request.identity ?? createAnswerIdentity(dependencies)
  const { turnId } = identity
  const logging = logWithRequestId({ ...dependencies, store: turnStore }, turnId)
  const ports = {
    ...countLoadedMemory(logging, request.memory),
    transport: limitRequestTime(exchange, dependencies, request.isBackground),
  }
  const lock = await lockRequestConversation(request.clientRequest, caller, turnId, ports)
  try {
    const parentSearch = startParentSearch(request.clientRequest, caller, turnId, ports)
    const loaded = await loadRequestHistory(request.clientRequest, caller, ports, lock)
    waitUntil(touchLoadedTurns(loaded.history, caller, ports))
    await yieldIfLarge(request.memory)
    const targets = routeModel(ports, loaded.clientRequest.params.model, loaded.clientRequest)
    const additions = await loadPromptAdditions(
      { ...loaded, targets, caller, turnId, waitUntil },
      ports,
    )
    const { history, releaseMedia } = additions
    const ready = { ...request, ...loaded, history, targets, lock, parentSearch, identity }
    const tasks = listTasksAfterAnswer(logging)
    const answering =
      request.isAnsweredLater === true
        ? storeRequest(ready, ports)
        : sendAndRespond(ready, tasks, ports)
    return await answering.finally(releaseMedia)
  } catch (error) {
    // Releases the lock at once, so that the next request of the conversation does not wait for a failed one.
    if (lock !== null) waitUntil(lock.release())
    throw error
  }
}

interface LoadedRequest extends AnswerRequest {
  /** The request as the client sent it, without items that recall restored from the store. */
  readonly originalRequest: ClientRequest
  readonly history: LoadedHistory
  readonly targets: RoutedTargets
  readonly lock: ConversationLock | null
  readonly parentSearch: ParentSearch | null
  readonly identity: AnswerIdentity
}

/** Checks the request and stores its turn. Resolves to an empty response when the turn is stored. */
async function storeRequest(request: LoadedRequest, ports: GatewayDependencies): Promise<Response> {
  const { clientRequest, history, lock } = request
  const [target] = selectCapableTargets(request, ports)
  rejectOrphanOutputs(history.items, clientRequest)
  const recorder = createRecorder(
    prepareRequest(target, { clientRequest, history }, ports),
    request,
    ports,
  )
  const stored = (await recorder.loadStoredParent?.()) ?? null
  if (stored === null)
    throw createDatabaseFailure(
      'The response cannot be stored because the database does not answer. Try again in a moment.',
      recorder.getOpeningError?.() ?? null,
    )
  // The unfinished turn keeps its conversation locked.
  lock?.stopRenewing()
  return new Response(null)
}

function selectCapableTargets(
  { clientRequest, history, targets, options = {} }: LoadedRequest,
  ports: GatewayDependencies,
): RoutedTargets {
  return filterCapableTargets(
    targets,
    (target) => prepareRequest(target, { clientRequest, history }, ports),
    options.unsupportedFeatureRule ?? ports.settings.UNSUPPORTED,
  )
}

async function sendAndRespond(
  request: LoadedRequest,
  tasks: readonly AfterAnswerTask[],
  ports: GatewayDependencies,
): Promise<Response> {
  const {
    dialect,
    clientRequest,
    history,
    caller,
    exchange,
    memory,
    identity,
    options = {},
  } = request
  const { waitUntil } = exchange
  const { turnId } = identity
  const targets = selectCapableTargets(request, ports)
  await yieldIfLarge(memory)
  const connection = cancelOnDisconnect(exchange)
  const sending = { targets, caller, ...connection }
  const fitting = await prepareFittingRequest(clientRequest, history, turnId, sending, ports)
  const { firstRequest, prepare, localAnswer } = fitting
  await yieldIfLarge(memory)
  const answerPromise =
    localAnswer ?? sendWithTools({ ...sending, prepare }, { caller, turnId, waitUntil }, ports)
  const recorder = createRecorder(firstRequest, request, ports)
  const fold = createOutcomeCollector(recorder)
  let prepared: PreparedRequest | null = null
  let response: Response | GatewayError
  try {
    const [answer, isStored] = await Promise.all([answerPromise, recorder.whenOpened])
    prepared = answer.prepared
    if (!isStored && clientRequest.storage.store === true) throw createNotStoredError(recorder)
    response = await respondToClient(
      {
        answer,
        dialect,
        prepared,
        eventFilters: selectEventFilters(prepared, ports.settings),
        answerContext: {
          clientRequest,
          ...identity,
          isStored,
          needsGatewayId:
            request.onSettled !== undefined || request.recordForConnection !== undefined,
          lostFields: listLostFields(prepared),
          completesResponse: mayOmitResponseFields(prepared.account),
        },
        fold,
        recorder,
        remarks: await loadRequestRemarks(prepared, caller, options.addsContextHeader, ports),
        caller,
        exchange,
        // After a local answer there is nothing to store or summarize, because nothing was sent upstream.
        afterAnswer: localAnswer === null ? tasks : [],
        onSettled: request.onSettled ?? null,
      },
      ports,
    )
  } catch (error) {
    const ending = connection.isDisconnected() ? 'cancelled' : 'finished'
    connection.cancel()
    const failure = error instanceof GatewayError ? error.failure : null
    const outcome = { ...fold.currentOutcome(), finish: null, failure }
    // Logs only an upstream that had started to answer; `sendWithFallback` has logged other failures.
    if (prepared !== null && ending === 'finished') logUpstreamFailure(outcome, prepared, ports)
    // Closes the turn, which may have been opened already.
    waitUntil(recorder.settle(outcome, ending, collectAnswerMetadata(firstRequest, outcome)))
    throw adaptUnknownModelError(error, clientRequest.dialect)
  }
  if (response instanceof GatewayError)
    throw adaptUnknownModelError(response, clientRequest.dialect)
  return response
}

/** The time limit of the request does not apply to these tasks, for which no client waits. */
function listTasksAfterAnswer(ports: GatewayDependencies): readonly AfterAnswerTask[] {
  return [
    (answered) => ports.hooks.storeSentRequests(answered, ports),
    (answered) => updateMemoryLayers(answered, ports),
    (answered) => summarizeAfterAnswer(answered, ports),
  ]
}

function createRecorder(
  prepared: PreparedRequest,
  { identity, caller, exchange, recordForConnection, ...request }: LoadedRequest,
  ports: Ports<'answerMessages' | 'archive' | 'log' | 'nowMs' | 'replica' | 'settings' | 'store'>,
): Recorder {
  const { turnId: id, createdAtMs } = identity
  const { tenant, user } = caller
  const turn = {
    id,
    tenant,
    user,
    replicaId: ports.replica.id,
    origin: resolveAnswerOrigin(prepared),
    createdAtMs,
    dialect: request.originalRequest.dialect,
  }
  const recorded = {
    ...request,
    recordForConnection: recordForConnection ?? null,
    storesEveryAnswer:
      request.onSettled !== undefined ||
      (prepared.prefixChange !== null && showsStatusLines(request.clientRequest.client)),
    lostFields: listLostFields(prepared),
  }
  return chooseRecorder(turn, recorded, ports, exchange.waitUntil)
}

/**
 * Creates the error for a request with `store: true` whose turn cannot be stored. Without this error, the client
 * would get a response id that it cannot use.
 */
function createNotStoredError({ getOpeningError }: Recorder): GatewayError {
  return createDatabaseFailure(
    'The answer cannot be stored because the database does not answer. Try again in a moment, or send `store: false`.',
    getOpeningError?.() ?? null,
  )
}
