/**
 * Starts a run: answers a request like any other, but the log is both its client and the store of its
 * turn, so the run continues when the client disconnects.
 */
import type { Caller } from '../core/client/caller.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../core/client-request.ts'
import type { ClientStream, HttpExchange } from '../gateway/http-exchange-interface.ts'
import { GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import { answerRequest, type RequestOptions } from '../gateway/answer-request.ts'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import type { OwnedRun } from '../store/background-runs/run-store-interface.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies, Ports } from '../gateway/dependencies-interface.ts'
import { CANCELLED, endRunEarly, type RunConclusion } from './end-run-early.ts'
import { getRunLeaseMs, type ActiveRunSlot } from './active-runs-and-lease.ts'
import { createRunLog, type RunLog } from './event-log/run-event-log.ts'

export interface NewRun {
  readonly dialect: Dialect
  readonly clientRequest: ClientRequest
  readonly caller: Caller
  readonly options: RequestOptions
  readonly turnId: string
  readonly createdAtMs: number
  /** Number of events already in the log; null if the turn is not stored yet. */
  readonly logged: number | null
  /** Number of events that are written when the log is created. */
  readonly opensWith: number
  /** Stores the turn, or rejects if that is impossible. */
  readonly open: (turn: NewTurn) => Promise<void>
}

export interface StartedRun {
  readonly log: RunLog
  /** Resolves once the turn is stored; rejects if it will not be. */
  readonly opened: Promise<void>
  /** Resolves to the response headers once the upstream starts to answer; rejects if it does not. */
  readonly begun: Promise<Response>
  /** Cancels the run before any client knows its id. */
  readonly takeBack: () => void
  /** Resolves when the run has ended; never rejects. */
  readonly over: Promise<void>
}

export function startRun(run: NewRun, slot: ActiveRunSlot, ports: GatewayDependencies): StartedRun {
  const { dialect, clientRequest, caller, turnId, createdAtMs } = run
  const hold = { turnId, ...caller, owner: slot.owner }
  const log = createRunLog(hold, run.logged ?? run.opensWith, getRunLeaseMs(ports), ports)
  const opening = Promise.withResolvers<void>()
  const state = { isOpen: run.logged !== null, isTakenBack: false }
  // A run without a stored turn would count as lost, so it is registered later.
  if (state.isOpen) slot.keep(log)
  const openTurn = async (turn: NewTurn): Promise<void> => {
    try {
      await run.open({ ...turn, owner: slot.owner })
    } catch (cause) {
      // Reports the failure at once, without waiting for the upstream.
      opening.reject(cause instanceof GatewayError ? cause : createNotStoredError(cause))
      void log.giveUp()
      throw cause
    }
    if (!state.isOpen) slot.keep(log)
    state.isOpen = true
    opening.resolve()
  }
  // Streaming stores each item as it ends. A background run is always stored.
  const storedRequest = {
    ...clientRequest,
    stream: true,
    storage: { ...clientRequest.storage, store: true },
  }
  const works: Promise<unknown>[] = []
  const request = {
    dialect,
    clientRequest: storedRequest,
    caller,
    exchange: createRunExchange(log.client, works),
    identity: { turnId, createdAtMs },
    turnStore: { ...ports.store, ...log.turns, openTurn },
    options: run.options,
  }
  const begun = answerRequest(request, ports)
  // A request that fails before its turn is stored rejects `opened` with that error. The turn may
  // still be in the middle of a slow write, so this waits for it.
  begun.catch(async (cause: unknown) => {
    await Promise.allSettled(works)
    opening.reject(cause)
  })
  const over = waitForAnswer(begun, { works, hold, log, state }, ports).then(async () => {
    await slot.leave().catch((error: unknown) => {
      ports.log('warn', 'lease-not-given-back', { why: errorMessage(error) })
    })
    // Workers keep a request alive only for promises that it waits for, and tasks after the answer
    // are not part of `over`.
    await Promise.allSettled(works)
  })
  // Prevents an unhandled rejection if the caller does not wait for `opened`.
  opening.promise.catch(() => undefined)
  return {
    log,
    opened: opening.promise,
    begun,
    takeBack() {
      state.isTakenBack = true
      void log.giveUp()
    },
    over,
  }
}

interface RunInProgress {
  /** Pending work of the answer, including the write of its turn. */
  readonly works: readonly Promise<unknown>[]
  readonly hold: OwnedRun
  readonly log: RunLog
  readonly state: { isOpen: boolean; isTakenBack: boolean }
}

/** Waits for the answer and ends its turn if the answer failed. */
async function waitForAnswer(
  begun: Promise<unknown>,
  { works, hold, log, state }: RunInProgress,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'runs' | 'store'>,
): Promise<void> {
  try {
    await begun
    if ((await log.over) === 'lost') ports.replica.releaseTurn(hold)
  } catch (error) {
    // An answer that failed only because its log is lost belongs to another replica now.
    const isLost = log.client.isDisconnected() && !state.isTakenBack
    await Promise.allSettled(works)
    await log.giveUp()
    if (isLost) return ports.replica.releaseTurn(hold)
    if (!state.isOpen) return
    const conclusion = state.isTakenBack ? CANCELLED : createFailedConclusion(error, ports)
    await endRunEarly(hold, conclusion, ports).catch((fault: unknown) => {
      ports.log('warn', 'run-not-ended', { turn: hold.turnId, why: errorMessage(fault) })
      ports.replica.releaseTurn(hold)
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

function createRunExchange(client: ClientStream, works: Promise<unknown>[]): HttpExchange {
  return {
    readBody: () => Promise.reject(new Error('A run has been read already.')),
    onDisconnect: client.onDisconnect,
    startStream(status, headers, run) {
      run(client)
      return new Response(null, { status, headers })
    },
    isLocal: () => true,
    waitUntil: (work) => void works.push(work),
  }
}
