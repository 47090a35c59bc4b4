/** Streams a stored response again from any event on, and follows it to its end. */
import type { Caller } from '../../core/client/caller.ts'
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import { SSE_HEADERS } from '../../gateway/respond/respond-to-client.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import {
  MAX_EVENT_NUMBER,
  LOG_RETENTION_HOURS,
} from '../../store/background-runs/run-store-interface.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { writeLogToClient, type LogFollower } from './write-log-to-client.ts'
import type { ActiveRuns } from '../active-runs-and-lease.ts'
import { createRunRecovery } from '../restart-or-fail-orphaned-run.ts'

export interface FollowRequest {
  readonly id: string
  /** Text of the query parameter `starting_after`, e.g. `41`, or null. */
  readonly startingAfter: string | null
  readonly caller: Caller
  readonly exchange: HttpExchange
}

export async function followRun(
  follow: FollowRequest,
  home: ActiveRuns,
  ports: GatewayDependencies,
): Promise<Response> {
  const { id, startingAfter, caller, exchange } = follow
  const from = parseFirstEvent(startingAfter)
  const turnId = turnIdOfResponse(id)
  const run =
    turnId && (await queryStoreOrThrow(() => ports.runs.readLog(caller, turnId, MAX_EVENT_NUMBER)))
  if (!run || run.isDeleted || run.dialect !== 'responses') throw createResponseNotFoundError(id)
  if (!run.isLogged) throw run.background ? createLogExpiredError() : createNotLoggedError()
  const follower = { turnId: run.turnId, caller, from, live: home.find(run.turnId) }
  return streamRunLog(follower, exchange, home, ports)
}

export function createResponseNotFoundError(id: string): GatewayError {
  return createNotFoundError(`Response with id '${id.slice(0, 80)}' not found.`)
}

interface StreamOptions extends Omit<LogFollower, 'rescue'> {
  readonly headers?: Readonly<Record<string, string>>
}

export function streamRunLog(
  { headers: moreHeaders = {}, ...follower }: StreamOptions,
  exchange: HttpExchange,
  home: ActiveRuns,
  ports: GatewayDependencies,
): Response {
  const headers = { ...SSE_HEADERS, 'x-request-id': `req_${follower.turnId}`, ...moreHeaders }
  const rescue = createRunRecovery(exchange, home, ports)
  return exchange.startStream(200, headers, (client) => {
    void writeLogToClient({ ...follower, rescue }, client, ports)
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
