/**
 * Answers a request with an `Idempotency-Key`. The first request with the key claims it in the database and is
 * answered; every other one, in any process, waits for it or receives its stored answer. So one request is sent to a
 * model, and one turn is stored.
 *
 * The key is released only if it is certain that no upstream has processed the request, e.g. because the upstream
 * rejected it. Otherwise the key is used up for 24 hours, even if no answer is known.
 */
import { createDatabaseFailure } from '../../core/errors/database-error.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import {
  answerRequest,
  createAnswerIdentity,
  type AnswerIdentity,
} from '../../gateway/answer-request.ts'
import type { GatewayDependencies, Ports } from '../../gateway/dependencies-interface.ts'
import { logWithRequestId } from '../../gateway/request-id.ts'
import { isStorageRequested } from '../../gateway/history/memory-thread-and-storage-permission.ts'
import { trackSentRequests } from '../../gateway/send/track-sent-requests.ts'
import type { ActiveRunSlot } from '../active-runs-and-lease.ts'
import { answerInRun } from '../answer-in-run.ts'
import type { BackgroundAnswerRequest } from '../start-background-response.ts'
import { findStoredAnswer } from './find-stored-answer.ts'
import type { RegisteredRequest, RunningRequests } from './first-requests.ts'
import { requireSameFingerprint, type HashedKey } from './idempotency-key.ts'
import { joinAnswer } from './join-answer.ts'
import { outliveClient } from './outlive-client.ts'

export async function answerOnce(
  request: BackgroundAnswerRequest,
  key: HashedKey,
  running: RunningRequests,
  dependencies: GatewayDependencies,
): Promise<Response> {
  const ports =
    request.identity === undefined
      ? dependencies
      : logWithRequestId(dependencies, request.identity.turnId)
  const findStored = () => findStoredAnswer(request, key, running, ports)
  // Repeats if the request for which this one waited has released the key.
  for (;;) {
    const local = running.firstRequests.find(key.keyId)
    if (local === null) {
      const own = await claimKey(request, key, running, ports)
      if (own !== null) return answerFirst(request, key, own, running, ports)
    } else {
      if (!(await local.whenClaimed)) continue
      requireSameFingerprint(local, key)
    }
    const whenFound =
      local === null ? findStored() : local.whenEnded.then((answer) => answer ?? findStored())
    const response = await joinAnswer(request, whenFound, running.activeRuns, ports)
    if (response !== null) return response
  }
}

interface OwnClaim {
  readonly identity: AnswerIdentity
  readonly first: RegisteredRequest
  /** While it is open, the lease of the replica that owns the claim is renewed. */
  readonly slot: ActiveRunSlot
}

/** Claims the key. Resolves to null if another request has it. */
async function claimKey(
  { caller, exchange, identity: own }: BackgroundAnswerRequest,
  key: HashedKey,
  { activeRuns, firstRequests }: RunningRequests,
  ports: GatewayDependencies,
): Promise<OwnClaim | null> {
  const identity = own ?? createAnswerIdentity(ports)
  const { turnId, createdAtMs: nowMs } = identity
  // Registered before the claim is stored, so that no request of this process finds the claim without its request.
  const first = firstRequests.register(key)
  let slot: ActiveRunSlot | null = null
  let isOwn: boolean
  try {
    slot = activeRuns.openSlot(turnId)
    await slot.whenLeased
    const claim = { ...caller, ...key, turnId, replicaId: slot.replicaId, nowMs }
    isOwn = await ports.idempotency.claimKey(claim)
  } catch (cause) {
    first.withdraw()
    await slot?.close()
    // The claim may have been stored although the database did not confirm it.
    exchange.waitUntil(settleKey('releaseKey', key.keyId, turnId, ports))
    throw createDatabaseFailure(NOT_CLAIMED, cause)
  }
  if (isOwn) {
    first.confirm()
    return { identity, first, slot }
  }
  first.withdraw()
  await slot.close()
  return null
}

const NOT_CLAIMED =
  'The request was not sent, because the database does not answer, so it is unknown whether its Idempotency-Key was used before. Try again in a moment.'

async function answerFirst(
  request: BackgroundAnswerRequest,
  { keyId }: HashedKey,
  { identity, first, slot }: OwnClaim,
  { activeRuns }: RunningRequests,
  ports: GatewayDependencies,
): Promise<Response> {
  const { exchange } = request
  const { turnId } = identity
  const sent = trackSentRequests(ports.transport)
  const replica = { ...ports.replica, id: slot.replicaId }
  const ownPorts = { ...ports, transport: sent.transport, replica }
  const endClaim = async (settle: SettleMethod): Promise<void> => {
    await settleKey(settle, keyId, turnId, ports)
    await slot.close()
  }
  let isSettled = false
  const answerOutsideRun = (): Promise<Response> =>
    answerRequest(
      {
        ...request,
        identity,
        exchange: outliveClient(exchange),
        onSettled(outcome, lostFields) {
          isSettled = true
          first.end({ ...identity, outcome, endedAtMs: ports.nowMs(), lostFields })
          exchange.waitUntil(endClaim('useUpKey'))
        },
      },
      ownPorts,
    )
  exchange.waitUntil(first.whenEnded.catch(() => undefined))
  try {
    const isResumable = request.isResumable || canStreamFromLog(request)
    const inRun = answerInRun(
      {
        ...request,
        identity,
        isResumable,
        exchange: { ...exchange, onDisconnect: () => undefined },
      },
      activeRuns,
      ownPorts,
    )
    if (inRun === null) return await answerOutsideRun()
    const response = await inRun
    await endClaim('useUpKey')
    first.end(null)
    return response
  } catch (error) {
    if (!isSettled) {
      await endClaim(sent.mayBeProcessed() ? 'useUpKey' : 'releaseKey')
      first.fail(error)
    }
    throw error
  }
}

type SettleMethod = 'useUpKey' | 'releaseKey'

/** Uses up or releases a key. Tries again if that fails, because a database may be unreachable for a moment. */
async function settleKey(
  settle: SettleMethod,
  keyId: string,
  turnId: string,
  { idempotency, log }: Ports<'idempotency' | 'log'>,
): Promise<void> {
  for (const pauseMs of [250, 1_000, 4_000, null]) {
    try {
      return await idempotency[settle](keyId, turnId)
    } catch (error) {
      log('warn', 'idempotency-key-not-settled', { turn: turnId, why: errorMessage(error) })
    }
    if (pauseMs !== null) await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** True for a stored stream of the Responses API: other requests can follow its event log while it is generated. */
function canStreamFromLog({ dialect, clientRequest }: BackgroundAnswerRequest): boolean {
  return dialect.name === 'responses' && clientRequest.stream && isStorageRequested(clientRequest)
}
