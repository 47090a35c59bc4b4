/**
 * The interface between the routes and background runs: start, follow, cancel, recover. Each operation
 * has its own file.
 */
import type { Caller } from '../core/client/caller.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import type { FoundRun } from '../store/background-runs/run-store-interface.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import {
  createProcessActiveRuns,
  createRequestActiveRuns,
  type ActiveRuns,
} from './active-runs-and-lease.ts'
import type { BackgroundAnswerRequest } from './background-answer-request.ts'
import { cancelRun } from './cancel-run.ts'
import { followRun, type FollowRequest } from './follow/follow-run.ts'
import { recoverIfOrphaned, recoverRun, type RunLookup } from './restart-or-fail-orphaned-run.ts'
import { shutDownRuns, releaseRunLease } from './shut-down-runs.ts'
import { startBackgroundResponse } from './start-background-response.ts'
import { streamResumableResponse } from './stream-resumable-response.ts'

export interface BackgroundRuns {
  /** Returns null for an ordinary request, whose answer ends with its client. */
  readonly answer: (request: BackgroundAnswerRequest) => Promise<Response> | null
  readonly follow: (follow: FollowRequest) => Promise<Response>
  /** Resolves to the response as it was stored. */
  readonly cancel: (id: string, caller: Caller) => Promise<JsonObject>
  /**
   * Recovers the response if its replica died. Does nothing on Node, where replicas look for expired
   * leases by themselves.
   */
  readonly lookAfter: (look: RunLookup) => Promise<void>
}

export interface ProcessBackgroundRuns extends BackgroundRuns {
  /** Waits for the runs up to `graceMs`, then ends the remaining ones. */
  readonly close: (graceMs: number) => Promise<void>
  /** Gives up the lease, so that other replicas can take over at once. */
  readonly leave: () => Promise<void>
}

/** Opens the runs of a Node process. `id` is its replica id. */
export async function openProcessRuns(
  id: string,
  ports: GatewayDependencies,
): Promise<ProcessBackgroundRuns> {
  let isClosing = false
  const recover = async (found: FoundRun): Promise<void> => {
    if (!isClosing) await recoverRun(found, home, ports)
  }
  const home = await createProcessActiveRuns(id, recover, ports)
  return {
    ...createRuns(home, ports),
    lookAfter: () => Promise.resolve(),
    close(graceMs) {
      isClosing = true
      return shutDownRuns(home, graceMs, ports)
    },
    leave: () => releaseRunLease(home, ports),
  }
}

/** Creates the runs of a Workers request. */
export function createRequestRuns(ports: GatewayDependencies): BackgroundRuns {
  const home = createRequestActiveRuns(ports)
  return {
    ...createRuns(home, ports),
    lookAfter: (look) => recoverIfOrphaned(look, home, ports),
  }
}

function createRuns(
  home: ActiveRuns,
  ports: GatewayDependencies,
): Omit<BackgroundRuns, 'lookAfter'> {
  return {
    answer(request) {
      const { clientRequest, isResumable } = request
      if (clientRequest.storage.background) return startBackgroundResponse(request, home, ports)
      if (!isResumable || !clientRequest.stream) return null
      if (clientRequest.storage.store === false) throw createStoreRequiredError()
      return streamResumableResponse(request, home, ports)
    },
    follow: (follow) => followRun(follow, home, ports),
    cancel: (id, caller) => queryStoreOrThrow(() => cancelRun(id, caller, home, ports)),
  }
}

function createStoreRequiredError(): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    'A stream can only be resumed if the response is stored. Leave out `store: false`, or the header x-backstory-resumable.',
    { param: 'store' },
  )
}
