/** Reads the stream of a response again, from any event on, and follows it to its end. */
import type { Caller } from '../../core/client/caller.ts'
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import type { Exchange } from '../../gateway/http-exchange-interface.ts'
import { GatewayError, notFound } from '../../core/errors/gateway-error.ts'
import { STREAM_HEADERS } from '../../gateway/answer-request.ts'
import { askMemory } from '../../store/query-store-or-throw.ts'
import { LAST_NUMBER, LOG_KEPT_HOURS } from '../../store/background-runs/run-store-interface.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { followLog, type Following } from './write-log-to-client.ts'
import type { Home } from '../active-runs-and-lease.ts'
import { rescueFor } from '../restart-or-fail-orphaned-run.ts'

export interface Follow {
  readonly id: string
  /** As it stands in the query, or `null`. */
  readonly startingAfter: string | null
  readonly caller: Caller
  readonly exchange: Exchange
}

export async function followRun(follow: Follow, home: Home, world: World): Promise<Response> {
  const { id, startingAfter, caller, exchange } = follow
  const from = firstWanted(startingAfter)
  const turnId = turnIdOfResponse(id)
  const run = turnId && (await askMemory(() => world.runs.readLog(caller, turnId, LAST_NUMBER)))
  if (!run || run.isDeleted || run.dialect !== 'responses') throw responseNotFound(id)
  if (!run.isLogged) throw run.background ? notLoggedAnyMore() : notLogged()
  const { turnId: found } = run
  const following = { turnId: found, whose: caller, from, live: home.find(found) }
  return streamLog(following, exchange, home, world)
}

export function responseNotFound(id: string): GatewayError {
  return notFound(`Response with id '${id.slice(0, 80)}' not found.`)
}

interface Streamed extends Omit<Following, 'rescue'> {
  readonly headers?: Readonly<Record<string, string>>
}

export function streamLog(
  { headers: more = {}, ...following }: Streamed,
  exchange: Exchange,
  home: Home,
  world: World,
): Response {
  const headers = { ...STREAM_HEADERS, 'x-request-id': `req_${following.turnId}`, ...more }
  const rescue = rescueFor(exchange, home, world)
  return exchange.stream(200, headers, (client) => {
    void followLog({ ...following, rescue }, client, world)
  })
}

function firstWanted(startingAfter: string | null): number {
  if (startingAfter === null) return 0
  if (/^\d+$/.test(startingAfter)) return Math.min(Number(startingAfter) + 1, LAST_NUMBER)
  throw new GatewayError(
    'invalid_type',
    `Invalid type for 'starting_after': expected a whole number from 0 on, the sequence number of the last event you have, but got '${startingAfter.slice(0, 40)}'.`,
    { param: 'starting_after' },
  )
}

function notLoggedAnyMore(): GatewayError {
  return new GatewayError(
    'invalid_value',
    `This response cannot be streamed any more: its events are kept for ${LOG_KEPT_HOURS} hours. Read it without stream=true.`,
    { param: 'stream' },
  )
}

function notLogged(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'This response cannot be streamed because it was not created with background=true.',
    { param: 'stream' },
  )
}
