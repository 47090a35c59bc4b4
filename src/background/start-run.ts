/**
 * Starts a run, which answers a request into an event log instead of to the client. The log acts as
 * the client and as the store of the turn, so the run continues when the client disconnects.
 */
import type { ClientStream, HttpExchange } from '../gateway/http-exchange-interface.ts'
import { GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import {
  answerRequest,
  type AnswerIdentity,
  type AnswerRequest,
} from '../gateway/answer-request.ts'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import type { OwnedRun } from '../store/background-runs/run-store-interface.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies, Ports } from '../gateway/dependencies-interface.ts'
import { CANCELLED, endRunEarly, type RunConclusion } from './end-run-early.ts'
import { getRunLeaseMs, type ActiveRunSlot } from './active-runs-and-lease.ts'
import { createRunLog, type RunLog } from './event-log/run-event-log.ts'

/** The parts of a request that a run needs to answer it. */
export type RunRequest = Required<
  Pick<AnswerRequest, 'dialect' | 'clientRequest' | 'caller' | 'options'>
>

export interface NewRun extends RunRequest, AnswerIdentity {
  /** True if the turn is stored already, because the run is restarted. */
  readonly isStored: boolean
  /** Number of the first event that the run adds to the log, e.g. 3 after three opening events. */
  readonly firstEvent: number
  /** Stores the turn, or marks the stored turn of a restarted run as started. Rejects if that fails. */
  readonly storeTurn: (turn: NewTurn) => Promise<void>
}

export interface StartedRun {
  readonly log: RunLog
  /** Resolves once the turn is stored; rejects if it cannot be stored. */
  readonly whenStored: Promise<void>
  /** Resolves to the response headers once the upstream starts to answer; rejects if it fails before. */
  readonly whenAnswering: Promise<Response>
  /** Cancels the run before any client knows its id. */
  readonly cancelUnannounced: () => void
  /** Resolves when the run has ended; never rejects. */
  readonly whenOver: Promise<void>
}

export function startRun(run: NewRun, slot: ActiveRunSlot, ports: GatewayDependencies): StartedRun {
  const { dialect, clientRequest, caller, turnId, createdAtMs } = run
  const ownedRun = { turnId, ...caller, owner: slot.owner }
  const log = createRunLog(ownedRun, run.firstEvent, getRunLeaseMs(ports), ports)
  const storing = Promise.withResolvers<void>()
  const state = { isStored: run.isStored, isCancelled: false }
  // The lease check reports a registered run without a stored turn as lost, so it is registered later.
  if (state.isStored) slot.register(log)
  const openTurn = async (turn: NewTurn): Promise<void> => {
    try {
      await run.storeTurn({ ...turn, owner: slot.owner })
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
  // A streamed answer stores each item when the item ends. A background run is always stored.
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
    exchange: createRunExchange(log.client, pendingWork),
    identity: { turnId, createdAtMs },
    turnStore: { ...ports.store, ...log.turnStore, openTurn },
    options: run.options,
  }
  const whenAnswering = answerRequest(request, ports)
  // A request that fails before its turn is stored rejects `whenStored` with its error, but not while
  // the turn is still being written.
  whenAnswering.catch(async (cause: unknown) => {
    await Promise.allSettled(pendingWork)
    storing.reject(cause)
  })
  const inProgress = { whenAnswering, pendingWork, ownedRun, log, state }
  const whenOver = endWithAnswer(inProgress, ports).then(async () => {
    await slot.close()
    // Workers stop a request when its promises have resolved, so this one also waits for the tasks
    // after the answer.
    await Promise.allSettled(pendingWork)
  })
  // Prevents an unhandled rejection if the caller does not wait for `whenStored`.
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
  /** Work of the answer that may outlast it, including the write of its turn. */
  readonly pendingWork: readonly Promise<unknown>[]
  readonly ownedRun: OwnedRun
  readonly log: RunLog
  readonly state: { readonly isStored: boolean; readonly isCancelled: boolean }
}

/** Waits until the answer has ended, and ends its turn if the answer failed. */
async function endWithAnswer(
  { whenAnswering, pendingWork, ownedRun, log, state }: RunInProgress,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'runs' | 'store'>,
): Promise<void> {
  try {
    await whenAnswering
    if ((await log.whenOver) === 'lost') ports.replica.reportUnclosedTurn(ownedRun)
  } catch (error) {
    // If the answer failed because its log is lost, the run belongs to another replica now.
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
  return new GatewayError(
    'store_unavailable',
    'The response cannot be stored because the database does not answer. Try again in a moment.',
    { cause, headers: { 'retry-after': '1' } },
  )
}

function createRunExchange(client: ClientStream, pendingWork: Promise<unknown>[]): HttpExchange {
  return {
    readBody: () => Promise.reject(new Error('A run has been read already.')),
    onDisconnect: client.onDisconnect,
    startStream(status, headers, run) {
      run(client)
      return new Response(null, { status, headers })
    },
    isLocal: () => true,
    waitUntil: (work) => void pendingWork.push(work),
  }
}
