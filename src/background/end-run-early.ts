/**
 * Ends a run from outside of its answer: it was cancelled, or nobody is left to go on with it. Its
 * log gets its last words, if it has one, in the same write in which the turn ends.
 */
import type { Failure } from '../core/stream-event.ts'
import type { RunHoldResult, RunHold } from '../store/background-runs/run-store-interface.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'
import { createClosingEvents } from './event-log/closing-events.ts'
import { readRun } from './event-log/read-complete-run-log.ts'
import {
  mapClientOutputIndexes,
  type ClientOutputIndexes,
} from './event-log/client-output-indexes.ts'

export type RunConclusion =
  | { readonly status: 'cancelled'; readonly failure: null }
  | { readonly status: 'failed'; readonly failure: Failure }

export const CANCELLED: RunConclusion = { status: 'cancelled', failure: null }

/** `false` if the run was not the holder's any more, and nothing was written. */
export async function endRunEarly(
  hold: RunHold,
  { status, failure }: RunConclusion,
  world: GatewayDependencies,
): Promise<RunHoldResult> {
  const { runs, nowMs } = world
  const { turnId, tenant } = hold
  const run = await readRun(hold, turnId, runs)
  if (run === null) return false
  const { shown, keptAt } = await placesIn(hold, world)
  const words = createClosingEvents(run.groups, { status, failure, finished: shown })
  const left = words?.items ?? []
  const end = {
    turnId,
    tenant,
    state: status,
    usage: null,
    failure,
    origin: run.origin,
    items: left.map(({ position, item }) => ({ position: keptAt(position), item })),
    holdsConversation: run.conversation !== null,
    endedAtMs: nowMs(),
  }
  return runs.endRun(hold, end, words?.events ?? null)
}

async function placesIn(
  hold: RunHold,
  { runs, store }: GatewayDependencies,
): Promise<ClientOutputIndexes> {
  const { tenant, turnId } = hold
  const kept = await runs.journaledItems(tenant, turnId)
  if (kept.size === 0) return mapClientOutputIndexes(kept, [])
  const chain = await store.loadChain(hold, turnId)
  return mapClientOutputIndexes(kept, chain?.at(-1)?.output ?? [])
}
