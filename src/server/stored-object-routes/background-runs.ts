/** The routes of runs that outlive their client, by method and path. */
import type { Caller } from '../../core/client/caller.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { requireIdPrefix } from './route-interface.ts'
import type { BackgroundRuns } from '../../background/background-runs.ts'

export interface BackgroundRunRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** `null` for what is not asked of a run. */
  readonly answer: (asked: BackgroundRunRequest) => Promise<Response | null>
}

export interface BackgroundRunRequest {
  readonly caller: Caller
  readonly exchange: HttpExchange
  /** As it stands in the path. */
  readonly id: string
  readonly query: URLSearchParams
}

export function createBackgroundRunRoutes(runs: BackgroundRuns): readonly BackgroundRunRoute[] {
  return [
    {
      method: 'GET',
      path: '/responses/:id',
      async answer({ caller, exchange, query, ...asked }) {
        const id = idIn(asked)
        const startingAfter = query.get('starting_after')
        if (query.get('stream') === 'true')
          return runs.follow({ id, startingAfter, caller, exchange })
        await runs.lookAfter({ id, caller, exchange })
        return null
      },
    },
    {
      method: 'POST',
      path: '/responses/:id/cancel',
      answer: async ({ caller, ...asked }) => Response.json(await runs.cancel(idIn(asked), caller)),
    },
  ]
}

function idIn({ id }: Pick<BackgroundRunRequest, 'id'>): string {
  return requireIdPrefix(id, 'resp', 'response_id')
}
