/**
 * Routes of responses that may be unfinished: read a response or stream its events, delete it, and cancel it. A response
 * whose replica has died is ended before.
 */
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import type { BackgroundRuns } from '../../background/background-runs.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { requireIdPrefix, type StoredObjectRoute } from './route-interface.ts'
import { readResponse } from './stored-responses.ts'

export interface BackgroundRunRoute extends Pick<StoredObjectRoute, 'method' | 'path'> {
  /** Serves a request. Resolves to null to leave the request to the routes of stored responses. */
  readonly handle: (
    request: AuthenticatedRequest,
    ports: GatewayDependencies,
  ) => Promise<Response | null>
}

export function createBackgroundRunRoutes(runs: BackgroundRuns): readonly BackgroundRunRoute[] {
  return [
    {
      method: 'GET',
      path: '/responses/:id',
      async handle(request, ports) {
        const { caller, exchange, query } = request
        const id = readResponseId(request)
        const startingAfter = query.get('starting_after')
        if (query.get('stream') === 'true')
          return runs.follow({ responseId: id, startingAfter, caller, exchange })
        const recover = () => runs.recoverIfOrphaned({ responseId: id, caller })
        return Response.json(await readResponse(request, recover, ports))
      },
    },
    {
      method: 'DELETE',
      path: '/responses/:id',
      async handle(request) {
        await runs.recoverIfOrphaned({
          responseId: readResponseId(request),
          caller: request.caller,
        })
        return null
      },
    },
    {
      method: 'POST',
      path: '/responses/:id/cancel',
      async handle(request) {
        const { caller, memory } = request
        const id = readResponseId(request)
        await runs.recoverIfOrphaned({ responseId: id, caller })
        return Response.json(await runs.cancel(id, caller, memory))
      },
    },
  ]
}

function readResponseId({ getPathParameter }: AuthenticatedRequest): string {
  return requireIdPrefix(getPathParameter('id'), 'resp', 'response_id')
}
