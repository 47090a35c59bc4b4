/** The routes of runs that outlive their client, by method and path. */
import type { Caller } from '../../core/client/caller.ts'
import type { Exchange } from '../../gateway/http-exchange-interface.ts'
import { withPrefix } from './route-interface.ts'
import type { Runs } from '../../background/background-runs.ts'

export interface RunRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** `null` for what is not asked of a run. */
  readonly answer: (asked: RunAsked) => Promise<Response | null>
}

export interface RunAsked {
  readonly caller: Caller
  readonly exchange: Exchange
  /** As it stands in the path. */
  readonly id: string
  readonly query: URLSearchParams
}

export function runRoutes(runs: Runs): readonly RunRoute[] {
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

function idIn({ id }: Pick<RunAsked, 'id'>): string {
  return withPrefix(id, 'resp', 'response_id')
}
