/**
 * Runs that outlive their client: set going, followed, cancelled, looked after. This is what the
 * routes ask; each verb has a file of its own.
 */
import type { Caller } from '../core/client/caller.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { Inbound } from '../core/client-request.ts'
import type { Exchange } from '../gateway/http-exchange-interface.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { askMemory } from '../store/query-store-or-throw.ts'
import type { FoundRun } from '../store/background-runs/run-store-interface.ts'
import type { World } from '../gateway/dependencies-interface.ts'
import { answerInBackground } from './start-background-response.ts'
import { answerResumably } from './stream-resumable-response.ts'
import { cancelRun } from './cancel-run.ts'
import { closeRuns, leaveRuns } from './shut-down-runs.ts'
import { followRun, type Follow } from './follow/follow-run.ts'
import { processHome, requestHome, type Home } from './active-runs-and-lease.ts'
import { lookAfter, rescueRun, type Look } from './restart-or-fail-orphaned-run.ts'

export interface Runs {
  /** `null` for an answer that ends with its client, which pays nothing for any of this. */
  readonly answer: (asked: AnswerRequest, world: World) => Promise<Response> | null
  readonly follow: (follow: Follow) => Promise<Response>
  /** Resolves to the response as it was left. */
  readonly cancel: (id: string, caller: Caller) => Promise<JsonObject>
  /** For where no process does it by itself: finds out whether anybody works on a response. */
  readonly lookAfter: (look: Look) => Promise<void>
}

export interface AnswerRequest {
  readonly dialect: Dialect
  readonly inbound: Inbound
  readonly caller: Caller
  readonly exchange: Exchange
  /** Whether the stream shall be one that can be taken up again. */
  readonly isResumable: boolean
}

export interface ProcessRuns extends Runs {
  /** Lets runs finish for a while, and leaves none that nobody ends. */
  readonly close: (graceMs: number) => Promise<void>
  /** Lets others know at once that nobody is left here. */
  readonly leave: () => Promise<void>
}

/** For a process that lasts. `id` is what it marks its turns with. */
export async function openRuns(id: string, world: World): Promise<ProcessRuns> {
  let isClosing = false
  const rescue = async (found: FoundRun): Promise<void> => {
    if (!isClosing) await rescueRun(found, home, world)
  }
  const home = await processHome(id, rescue, world)
  return {
    ...runsIn(home, world),
    lookAfter: () => Promise.resolve(),
    close(graceMs) {
      isClosing = true
      return closeRuns(home, graceMs, world)
    },
    leave: () => leaveRuns(home, world),
  }
}

/** For where nothing lasts longer than a request. */
export function runsByRequest(world: World): Runs {
  const home = requestHome(world)
  return { ...runsIn(home, world), lookAfter: (look) => lookAfter(look, home, world) }
}

function runsIn(home: Home, world: World): Omit<Runs, 'lookAfter'> {
  return {
    answer(asked, forThis) {
      const { inbound, isResumable } = asked
      if (inbound.memory.background) return answerInBackground(asked, home, forThis)
      if (!isResumable || !inbound.stream) return null
      if (inbound.memory.store === false) throw notWithoutStore()
      return answerResumably(asked, home, forThis)
    },
    follow: (follow) => followRun(follow, home, world),
    cancel: (id, caller) => askMemory(() => cancelRun(id, caller, home, world)),
  }
}

function notWithoutStore(): GatewayError {
  return new GatewayError(
    'unsupported_parameter',
    'A stream can only be taken up again if the response is stored. Leave out `store: false`, or the header x-backstory-resumable.',
    { param: 'store' },
  )
}
