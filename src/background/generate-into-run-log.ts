/**
 * Sets a run going: the same journey as that of any request, but its client is the log, and its turn
 * is kept by the log as well. It goes on whoever leaves.
 */
import type { Caller } from '../core/client/caller.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../core/client-request.ts'
import type { ClientStream, HttpExchange } from '../gateway/http-exchange-interface.ts'
import { GatewayError, errorMessage } from '../core/errors/gateway-error.ts'
import { answerRequest, type RequestOptions } from '../gateway/answer-request.ts'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import type { RunHold } from '../store/background-runs/run-store-interface.ts'
import type { NewTurn } from '../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { CANCELLED, endRunEarly, type RunConclusion } from './end-run-early.ts'
import { getRunLeaseMs, type ActiveRunSlot } from './active-runs-and-lease.ts'
import { createRunLog, type RunLog } from './event-log/run-log.ts'

export interface NewRun {
  readonly dialect: Dialect
  readonly clientRequest: ClientRequest
  readonly caller: Caller
  readonly options: RequestOptions
  readonly turnId: string
  readonly createdAtMs: number
  /** How many events its log has already; `null` if its turn has yet to be opened. */
  readonly logged: number | null
  /** How many events its log is opened with, if it has yet to be opened. */
  readonly opensWith: number
  /** Makes the turn durable, or finds that it cannot be. */
  readonly open: (turn: NewTurn) => Promise<void>
}

export interface StartedRun {
  readonly log: RunLog
  /** Resolves once the turn is durable; rejects if it will not be. */
  readonly opened: Promise<void>
  /** Resolves once the upstream has begun to answer, to the headers; rejects if it will not. */
  readonly begun: Promise<Response>
  /** Takes the run back, before anybody was told of it. */
  readonly takeBack: () => void
  /** Never rejects. */
  readonly over: Promise<void>
}

export function startRun(run: NewRun, room: ActiveRunSlot, world: GatewayDependencies): StartedRun {
  const { dialect, clientRequest, caller, turnId, createdAtMs } = run
  const hold = { turnId, ...caller, owner: room.owner }
  const log = createRunLog(hold, run.logged ?? run.opensWith, getRunLeaseMs(world), world)
  const opening = Promise.withResolvers<void>()
  const state = { isOpen: run.logged !== null, isTakenBack: false }
  // What is not opened yet cannot be found to be lost either.
  if (state.isOpen) room.keep(log)
  const openTurn = async (turn: NewTurn): Promise<void> => {
    try {
      await run.open({ ...turn, owner: room.owner })
    } catch (cause) {
      // Nobody waits for an upstream to be told this.
      opening.reject(cause instanceof GatewayError ? cause : notOpened(cause))
      void log.giveUp()
      throw cause
    }
    if (!state.isOpen) room.keep(log)
    state.isOpen = true
    opening.resolve()
  }
  const store = { ...world.store, ...log.turns, openTurn }
  // Its items are wanted as they are finished; and it is kept, or it is nothing.
  const kept = {
    ...clientRequest,
    stream: true,
    storage: { ...clientRequest.storage, store: true },
  }
  const works: Promise<unknown>[] = []
  const exchange = exchangeOf(log.client, works)
  const name = { turnId, createdAtMs }
  const request = {
    dialect,
    clientRequest: kept,
    caller,
    exchange,
    identity: name,
    turnStore: store,
  }
  const begun = answerRequest({ ...request, options: run.options }, world)
  // What is refused before it is opened is not opened for that reason; but a slow database may be
  // opening it yet, while its upstream has refused already.
  begun.catch(async (cause: unknown) => {
    await Promise.allSettled(works)
    opening.reject(cause)
  })
  const over = attend(begun, { works, hold, log, state }, world).then(async () => {
    await room.leave().catch((error: unknown) => {
      world.log('warn', 'lease-not-given-back', { why: errorMessage(error) })
    })
    // There are runtimes that let go on only what is waited for, and what follows an answer is not in it.
    await Promise.allSettled(works)
  })
  // Not everybody who starts a run waits for it.
  opening.promise.catch(ignore)
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

interface Attended {
  /** What the journey has left to be finished, its turn among it. */
  readonly works: readonly Promise<unknown>[]
  readonly hold: RunHold
  readonly log: RunLog
  readonly state: { isOpen: boolean; isTakenBack: boolean }
}

/** Sees to it that a turn which was opened comes to an end. */
async function attend(
  begun: Promise<unknown>,
  { works, hold, log, state }: Attended,
  world: GatewayDependencies,
): Promise<void> {
  try {
    await begun
    if ((await log.over) === 'lost') world.replica.releaseTurn(hold)
  } catch (error) {
    // An answer that rejects because its log is lost has failed of nothing else.
    const isLost = log.client.isDisconnected() && !state.isTakenBack
    await Promise.allSettled(works)
    await log.giveUp()
    if (isLost) return world.replica.releaseTurn(hold)
    if (!state.isOpen) return
    const conclusion = state.isTakenBack ? CANCELLED : failedBy(error, world)
    await endRunEarly(hold, conclusion, world).catch((fault: unknown) => {
      world.log('warn', 'run-not-ended', { turn: hold.turnId, why: errorMessage(fault) })
      world.replica.releaseTurn(hold)
    })
  }
}

function failedBy(error: unknown, { log }: GatewayDependencies): RunConclusion {
  return { status: 'failed', failure: convertUnexpectedError(error, log).failure }
}

function ignore(): void {}

function notOpened(cause: unknown): GatewayError {
  return new GatewayError(
    'store_unavailable',
    'The response cannot be stored because the database does not answer. Try again in a moment.',
    { cause, headers: { 'retry-after': '1' } },
  )
}

function exchangeOf(client: ClientStream, works: Promise<unknown>[]): HttpExchange {
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
