/**
 * Starts a run, which writes an answer into an event log instead of to the client. The log is used in place
 * of the client and of the store for the turn, so the run continues when the client disconnects.
 */
import type { ClientStream, HttpExchange } from '../gateway/http-exchange-interface.ts'
import { createDatabaseFailure } from '../core/errors/database-error.ts'
import { GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import {
  answerRequest,
  type AnswerIdentity,
  type AnswerRequest,
} from '../gateway/answer-request.ts'
import { logWithRequestId } from '../gateway/request-id.ts'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import type { OwnedRun } from '../store/background-runs/run-store-interface.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies, Ports } from '../gateway/dependencies-interface.ts'
import { CANCELLED, endRunEarly, type RunConclusion } from './end-run-early.ts'
import { getRunLeaseMs, type ActiveRunSlot } from './active-runs-and-lease.ts'
import { createRunLog, type RunLog, type RunLogStart } from './event-log/run-event-log.ts'

/** The parts of a client's request that are needed to answer it in a run. */
export type RunRequest = Required<
  Pick<AnswerRequest, 'dialect' | 'clientRequest' | 'caller' | 'memory' | 'options'>
>

export interface NewRun extends RunRequest, AnswerIdentity, RunLogStart {
  /** True if the turn is stored already, because this is the restart of a run. */
  readonly isStored: boolean
  /** Stores the turn, or marks the stored turn of a restarted run as started. Rejects if that fails. */
  readonly storeTurn: (turn: NewTurn) => Promise<void>
}

export interface StartedRun {
  readonly log: RunLog
  /** Resolves once the turn is stored; rejects if it cannot be stored. */
  readonly whenStored: Promise<void>
  /**
   * Resolves to the response headers once the upstream starts to answer; rejects if the request fails
   * before that.
   */
  readonly whenAnswering: Promise<Response>
  /** Cancels a run whose response id no client has received yet. */
  readonly cancelUnannounced: () => void
  /** Resolves when the run has ended; never rejects. */
  readonly whenOver: Promise<void>
}

export function startRun(
  run: NewRun,
  slot: ActiveRunSlot,
  dependencies: GatewayDependencies,
): StartedRun {
  const { dialect, clientRequest, caller, turnId, createdAtMs } = run
  const ports = logWithRequestId(dependencies, turnId)
  const ownedRun = { turnId, ...caller, replicaId: slot.replicaId }
  const log = createRunLog(ownedRun, run, getRunLeaseMs(ports), ports)
  const storing = Promise.withResolvers<void>()
  const state = { isStored: run.isStored, isCancelled: false }
  // A run is registered only after its turn is stored. Otherwise, the check of the lease would report it as
  // lost.
  if (state.isStored) slot.register(log)
  const openTurn = async (turn: NewTurn): Promise<void> => {
    try {
      await slot.whenLeased
      await run.storeTurn({ ...turn, replicaId: slot.replicaId })
    } catch (cause) {
      // Reports the failure immediately instead of when the upstream answers.
      storing.reject(cause instanceof GatewayError ? cause : createNotStoredError(cause))
      void log.stopWriting()
      throw cause
    }
    if (!state.isStored) slot.register(log)
    state.isStored = true
    storing.resolve()
  }
  // `stream: true`, because a streamed answer stores each item when the item ends. `store: true`, because
  // every run is stored.
  const storedRequest = {
    ...clientRequest,
    stream: true,
    storage: { ...clientRequest.storage, store: true },
  }
  const pendingWork: Promise<unknown>[] = []
  const request = {
    dialect,
    clientRequest: storedRequest,
    caller,
    memory: run.memory,
    exchange: createRunExchange(log.client, pendingWork),
    identity: { turnId, createdAtMs },
    // The slot has a lease already.
    turnStore: { ...ports.store, ...log.turnStore, openTurn, turnLease: undefined },
    options: run.options,
    isBackground: clientRequest.storage.background,
  }
  const whenAnswering = answerRequest(request, ports)
  // If a request fails before its turn is stored, `whenStored` rejects with its error. It does so only when
  // no write of the turn is in progress any more.
  whenAnswering.catch(async (cause: unknown) => {
    await Promise.allSettled(pendingWork)
    storing.reject(cause)
  })
  const inProgress = { whenAnswering, pendingWork, ownedRun, log, state }
  const whenOver = endWithAnswer(inProgress, ports).then(async () => {
    await slot.close()
    // Workers may stop when this promise has resolved, so it also waits for the tasks after the answer.
    await Promise.allSettled(pendingWork)
  })
  // Prevents an unhandled rejection if the caller does not use `whenStored`.
  storing.promise.catch(() => undefined)
  return {
    log,
    whenStored: storing.promise,
    whenAnswering,
    cancelUnannounced() {
      state.isCancelled = true
      void log.stopWriting()
    },
    whenOver,
  }
}

interface RunInProgress {
  readonly whenAnswering: Promise<unknown>
  /** Work that may take longer than the answer, including the write of its turn. */
  readonly pendingWork: readonly Promise<unknown>[]
  readonly ownedRun: OwnedRun
  readonly log: RunLog
  readonly state: { readonly isStored: boolean; readonly isCancelled: boolean }
}

/**
 * Waits until the answer has ended. If the request failed before the answer started, ends the turn, because
 * nothing else does.
 */
async function endWithAnswer(
  { whenAnswering, pendingWork, ownedRun, log, state }: RunInProgress,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'runs' | 'store'>,
): Promise<void> {
  try {
    await whenAnswering
    if ((await log.whenOver) === 'lost') ports.replica.reportUnclosedTurn(ownedRun)
  } catch (error) {
    // The answer fails if its log is lost. The run then belongs to another replica.
    const isLost = log.client.isDisconnected() && !state.isCancelled
    await Promise.allSettled(pendingWork)
    await log.stopWriting()
    if (isLost) return ports.replica.reportUnclosedTurn(ownedRun)
    if (!state.isStored) return
    const conclusion = state.isCancelled ? CANCELLED : createFailedConclusion(error, ports)
    await endRunEarly(ownedRun, conclusion, ports).catch((fault: unknown) => {
      ports.log('warn', 'run-not-ended', { turn: ownedRun.turnId, why: errorMessage(fault) })
      ports.replica.reportUnclosedTurn(ownedRun)
    })
  }
}

function createFailedConclusion(error: unknown, { log }: Ports<'log'>): RunConclusion {
  return { status: 'failed', failure: convertUnexpectedError(error, log).failure }
}

function createNotStoredError(cause: unknown): GatewayError {
  return createDatabaseFailure(
    'The response cannot be stored because the database does not answer. Try again in a moment.',
    cause,
  )
}

function createRunExchange(client: ClientStream, pendingWork: Promise<unknown>[]): HttpExchange {
  return {
    startedAtMs: performance.now(),
    readBody: () => Promise.reject(new Error('A run has been read already.')),
    onDisconnect: client.onDisconnect,
    onSent: (callback) => callback(),
    startStream(status, headers, run) {
      run(client)
      return new Response(null, { status, headers })
    },
    isLocal: () => true,
    waitUntil: (work) => void pendingWork.push(work),
    runLater: (work) => void pendingWork.push(work()),
  }
}
