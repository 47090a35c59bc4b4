/**
 * The id of a request: clients find it in the header `x-request-id` of every answer, and operators in the field `request`
 * of the log lines that the request causes. The answer and its stored turn have the same id.
 */
import type { Log } from '../core/ports/log-interface.ts'
import { requestId } from '../core/turn-derived-ids.ts'
import type { Ports } from './dependencies-interface.ts'

export const REQUEST_ID_HEADER = 'x-request-id'

/** Returns the ports with a log that adds the id of the request to every line. */
export function logWithRequestId<Needed extends Ports<'log'>>(
  ports: Needed,
  turnId: string,
): Needed {
  return { ...ports, log: addRequestId(ports.log, turnId) }
}

export function addRequestId(log: Log, turnId: string): Log {
  const request = requestId(turnId)
  return (level, event, fields) => log(level, event, { request, ...fields })
}
