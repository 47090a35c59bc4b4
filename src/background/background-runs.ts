/**
 * Starts, follows, cancels and recovers background runs for the routes of the server. A background run is
 * an answer that continues when its client disconnects. The code of each operation is in a file of its own.
 */
import type { Caller } from '../core/client/caller.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import type { RequestMemory } from '../gateway/request-memory.ts'
import type { RunWithReplica } from '../store/background-runs/run-store-interface.ts'
import { queryStoreOrThrow } from '../store/query-store-or-throw.ts'
import {
  createActiveRunsOfProcess,
  createActiveRunsOfRequest,
  getRunLimits,
} from './active-runs-and-lease.ts'
import { answerInRun } from './answer-in-run.ts'
import { cancelRun } from './cancel-run.ts'
import { followRun, type FollowRequest } from './follow/follow-run.ts'
import { answerOnce } from './idempotency/answer-once.ts'
import {
  createFirstRequests,
  createUnsharedFirstRequests,
  type RunningRequests,
} from './idempotency/first-requests.ts'
import type { HashedKey } from './idempotency/idempotency-key.ts'
import { createRunQueue } from './queue/run-queue.ts'
import {
  recoverIfOrphaned,
  recoverOrphanedRun,
  recoverOrphanedRuns,
  startQueuedRun,
  type OrphanCheck,
} from './recover-orphaned-run.ts'
import { shutDownRuns } from './shut-down-runs.ts'
import type { BackgroundAnswerRequest } from './start-background-response.ts'

export interface BackgroundRuns {
  /**
   * Answers a request with a background run. Returns null if the request needs none, because its answer may
   * end when its client disconnects.
   */
  readonly answer: (request: BackgroundAnswerRequest) => Promise<Response> | null
  /**
   * Answers a request that has an `Idempotency-Key`: requests with the same key get the same answer, which
   * continues when its client disconnects.
   */
  readonly answerOnce: (request: BackgroundAnswerRequest, key: HashedKey) => Promise<Response>
  readonly follow: (follow: FollowRequest) => Promise<Response>
  /** Cancels the run of a response. Resolves to the stored response. */
  readonly cancel: (id: string, caller: Caller, memory: RequestMemory) => Promise<JsonObject>
  /**
   * Recovers the run of a response if its replica has died. Resolves to false if there is nothing to recover. Does
   * nothing on Node, because replicas there check for expired leases themselves.
   */
  readonly recoverIfOrphaned: (check: OrphanCheck) => Promise<boolean>
}

export interface WorkerBackgroundRuns extends BackgroundRuns {
  /** Recovers runs whose Workers have ended, at most `maxRuns`. */
  readonly recoverOrphans: (maxRuns: number) => Promise<void>
}

export interface ProcessBackgroundRuns extends BackgroundRuns {
  /**
   * Waits up to `graceMs` for the runs to finish. Then ends the unfinished ones as failed, except those
   * that another replica can restart.
   */
  readonly shutDown: (graceMs: number) => Promise<void>
  /**
   * Ends the lease, so that other replicas can recover runs immediately. Must be called after the last turn
   * of this process is closed. Otherwise, another replica would end that turn as failed.
   */
  readonly releaseLease: () => Promise<void>
}

/** Opens the background runs of a Node process, which is the replica `replicaId`. */
export async function openBackgroundRunsOfProcess(
  replicaId: string,
  ports: GatewayDependencies,
): Promise<ProcessBackgroundRuns> {
  let isClosing = false
  const recover = async (found: RunWithReplica): Promise<void> => {
    if (!isClosing) await recoverOrphanedRun(found, activeRuns, ports)
  }
  const limits = {
    ...getRunLimits(ports),
    maxQueuedPerKey: ports.settings.BACKGROUND_QUEUE_PER_KEY,
  }
  const queue = createRunQueue(limits, (run, faults) =>
    startQueuedRun({ ...run, replicaId, faults }, activeRuns, ports),
  )
  const activeRuns = await createActiveRunsOfProcess(replicaId, queue, recover, ports)
  return {
    ...createRuns({ activeRuns, firstRequests: createFirstRequests() }, ports),
    recoverIfOrphaned: () => Promise.resolve(false),
    shutDown(graceMs) {
      isClosing = true
      queue.close()
      return shutDownRuns(activeRuns, graceMs, ports)
    },
    releaseLease: activeRuns.lease.end,
  }
}

/** Creates the background runs on Workers, where requests share no state. */
export function createBackgroundRunsOfRequest(ports: GatewayDependencies): WorkerBackgroundRuns {
  const activeRuns = createActiveRunsOfRequest(ports)
  return {
    ...createRuns({ activeRuns, firstRequests: createUnsharedFirstRequests() }, ports),
    recoverIfOrphaned: (check) => recoverIfOrphaned(check, activeRuns, ports),
    recoverOrphans: (maxRuns) => recoverOrphanedRuns(maxRuns, activeRuns, ports),
  }
}

function createRuns(
  running: RunningRequests,
  ports: GatewayDependencies,
): Omit<BackgroundRuns, 'recoverIfOrphaned'> {
  const { activeRuns } = running
  return {
    answer: (request) => answerInRun(request, activeRuns, ports),
    answerOnce: (request, key) => answerOnce(request, key, running, ports),
    follow: (follow) => followRun(follow, activeRuns, ports),
    cancel: (id, caller, memory) =>
      queryStoreOrThrow(() => cancelRun(id, caller, { activeRuns, memory }, ports)),
  }
}
