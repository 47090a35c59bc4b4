/** Routes of background responses: stream the events of a running response, and cancel it. */
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import type { BackgroundRuns } from '../../background/background-runs.ts'
import { requireIdPrefix, type StoredObjectRoute } from './route-interface.ts'

export interface BackgroundRunRoute extends Pick<StoredObjectRoute, 'method' | 'path'> {
  /** Serves a request. Resolves to null to leave the request to the routes of stored responses. */
  readonly handle: (request: AuthenticatedRequest) => Promise<Response | null>
}

export function createBackgroundRunRoutes(runs: BackgroundRuns): readonly BackgroundRunRoute[] {
  return [
    {
      method: 'GET',
      path: '/responses/:id',
      async handle(request) {
        const { caller, exchange, query } = request
        const id = readResponseId(request)
        const startingAfter = query.get('starting_after')
        if (query.get('stream') === 'true')
          return runs.follow({ responseId: id, startingAfter, caller, exchange })
        await runs.recoverIfOrphaned({ responseId: id, caller })
        return null
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
        const { caller } = request
        const id = readResponseId(request)
        await runs.recoverIfOrphaned({ responseId: id, caller })
        return Response.json(await runs.cancel(id, caller))
      },
    },
  ]
}

function readResponseId({ getPathParameter }: AuthenticatedRequest): string {
  return requireIdPrefix(getPathParameter('id'), 'resp', 'response_id')
}
