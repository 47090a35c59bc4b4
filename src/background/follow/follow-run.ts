/** Streams the event log of a stored response from any event on, and follows an unfinished run to its end. */
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import { SSE_HEADERS } from '../../gateway/respond/respond-to-client.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import {
  MAX_EVENT_NUMBER,
  type RunWithReplica,
} from '../../store/background-runs/run-store-interface.ts'
import { LOG_RETENTION_HOURS } from '../../store/background-runs/retention-and-orphan-times.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { writeLogToClient, type LogFollower } from './write-log-to-client.ts'
import type { ActiveRuns } from '../active-runs-and-lease.ts'
import { recoverOrphanedRun, type OrphanCheck } from '../recover-orphaned-run.ts'

export interface FollowRequest extends OrphanCheck {
  /** Query parameter `starting_after` as text, e.g. `41` for a stream from event 42 on; null without it. */
  readonly startingAfter: string | null
  readonly exchange: HttpExchange
}

export async function followRun(
  follow: FollowRequest,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Promise<Response> {
  const { responseId, startingAfter, caller, exchange } = follow
  const firstEvent = parseFirstEvent(startingAfter)
  const turnId = turnIdOfResponse(responseId)
  // Reads the first events before the stream starts, because an error status is impossible afterwards.
  const run =
    turnId &&
    (await queryStoreOrThrow(() =>
      ports.runs.readLog(caller, turnId, firstEvent, { undecryptable: 'fail' }),
    ))
  if (!run || run.isDeleted || run.dialect !== 'responses')
    throw createResponseNotFoundError(responseId)
  if (!run.isLogged) throw run.background ? createLogExpiredError() : createNotLoggedError()
  const follower = {
    turnId: run.turnId,
    caller,
    firstEvent,
    liveLog: activeRuns.findLog(run.turnId),
  }
  return streamRunLog(follower, exchange, activeRuns, ports)
}

export function createResponseNotFoundError(id: string): GatewayError {
  return createNotFoundError(`Response with id '${id.slice(0, 80)}' not found.`)
}

interface StreamOptions extends Omit<LogFollower, 'recover' | 'whenStarted'> {
  readonly headers?: Readonly<Record<string, string>>
}

export function streamRunLog(
  { headers: moreHeaders = {}, ...follower }: StreamOptions,
  exchange: HttpExchange,
  activeRuns: ActiveRuns,
  ports: GatewayDependencies,
): Response {
  const headers = { ...SSE_HEADERS, ...moreHeaders }
  const recover = (run: RunWithReplica) => recoverOrphanedRun(run, activeRuns, ports)
  const { turnId, caller } = follower
  const whenStarted = activeRuns.queue?.whenStarted({ turnId, ...caller }) ?? null
  return exchange.startStream(200, headers, (client) => {
    void writeLogToClient({ ...follower, whenStarted, recover }, client, ports)
  })
}

function parseFirstEvent(startingAfter: string | null): number {
  if (startingAfter === null) return 0
  if (/^\d+$/.test(startingAfter)) return Math.min(Number(startingAfter) + 1, MAX_EVENT_NUMBER)
  throw new GatewayError(
    'invalid_type',
    `Invalid type for 'starting_after': expected a whole number from 0 on, the sequence number of the last event you have, but got '${startingAfter.slice(0, 40)}'.`,
    { param: 'starting_after' },
  )
}

function createLogExpiredError(): GatewayError {
  return new GatewayError(
    'invalid_value',
    `This response cannot be streamed any more: its events are kept for ${LOG_RETENTION_HOURS} hours. Read it without stream=true.`,
    { param: 'stream' },
  )
}

function createNotLoggedError(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'This response cannot be streamed because it was not created with background=true.',
    { param: 'stream' },
  )
}
