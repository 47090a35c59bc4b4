/**
 * Runs that outlive their client: set going, followed, cancelled, looked after. This is what the
 * routes ask; each verb has a file of its own.
 */
import type { Caller } from '../core/client/caller.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../core/client-request.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import type { FoundRun } from '../store/background-runs/run-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { startBackgroundResponse } from './start-background-response.ts'
import { streamResumableResponse } from './stream-resumable-response.ts'
import { cancelRun } from './cancel-run.ts'
import { shutDownRuns, releaseRunLease } from './shut-down-runs.ts'
import { followRun, type FollowRequest } from './follow/follow-run.ts'
import {
  createProcessActiveRuns,
  createRequestActiveRuns,
  type ActiveRuns,
} from './active-runs-and-lease.ts'
import { recoverIfOrphaned, recoverRun, type RunLookup } from './restart-or-fail-orphaned-run.ts'
import type { RequestOptions } from '../gateway/answer-request.ts'

export interface BackgroundRuns {
  /** `null` for an answer that ends with its client, which pays nothing for any of this. */
  readonly answer: (request: BackgroundAnswerRequest) => Promise<Response> | null
  readonly follow: (follow: FollowRequest) => Promise<Response>
  /** Resolves to the response as it was left. */
  readonly cancel: (id: string, caller: Caller) => Promise<JsonObject>
  /** For where no process does it by itself: finds out whether anybody works on a response. */
  readonly lookAfter: (look: RunLookup) => Promise<void>
}

export interface BackgroundAnswerRequest {
  readonly dialect: Dialect
  readonly clientRequest: ClientRequest
  readonly caller: Caller
  readonly exchange: HttpExchange
  readonly options: RequestOptions
  /** Whether the stream shall be one that can be taken up again. */
  readonly isResumable: boolean
}

export interface ProcessBackgroundRuns extends BackgroundRuns {
  /** Lets runs finish for a while, and leaves none that nobody ends. */
  readonly close: (graceMs: number) => Promise<void>
  /** Lets others know at once that nobody is left here. */
  readonly leave: () => Promise<void>
}

/** For a process that lasts. `id` is what it marks its turns with. */
export async function openProcessRuns(
  id: string,
  world: GatewayDependencies,
): Promise<ProcessBackgroundRuns> {
  let isClosing = false
  const rescue = async (found: FoundRun): Promise<void> => {
    if (!isClosing) await recoverRun(found, home, world)
  }
  const home = await createProcessActiveRuns(id, rescue, world)
  return {
    ...runsIn(home, world),
    lookAfter: () => Promise.resolve(),
    close(graceMs) {
      isClosing = true
      return shutDownRuns(home, graceMs, world)
    },
    leave: () => releaseRunLease(home, world),
  }
}

/** For where nothing lasts longer than a request. */
export function createRequestRuns(world: GatewayDependencies): BackgroundRuns {
  const home = createRequestActiveRuns(world)
  return { ...runsIn(home, world), lookAfter: (look) => recoverIfOrphaned(look, home, world) }
}

function runsIn(home: ActiveRuns, world: GatewayDependencies): Omit<BackgroundRuns, 'lookAfter'> {
  return {
    answer(asked) {
      const { clientRequest, isResumable } = asked
      if (clientRequest.storage.background) return startBackgroundResponse(asked, home, world)
      if (!isResumable || !clientRequest.stream) return null
      if (clientRequest.storage.store === false) throw notWithoutStore()
      return streamResumableResponse(asked, home, world)
    },
    follow: (follow) => followRun(follow, home, world),
    cancel: (id, caller) => queryStoreOrThrow(() => cancelRun(id, caller, home, world)),
  }
}

function notWithoutStore(): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    'A stream can only be taken up again if the response is stored. Leave out `store: false`, or the header x-backstory-resumable.',
    { param: 'store' },
  )
}
