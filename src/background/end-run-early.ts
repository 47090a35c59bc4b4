/**
 * Ends a run from outside of its answer: it was cancelled, or nobody is left to go on with it. Its
 * log gets its last words, if it has one, in the same write in which the turn ends.
 */
import type { Failure } from '../core/stream-event.ts'
import type { Held, RunHold } from '../store/background-runs/run-store-interface.ts'
import type { World } from '../gateway/dependencies-interface.ts'
import { lastWords } from './event-log/closing-events.ts'
import { readRun } from './event-log/read-complete-run-log.ts'
import { shownPlaces, type ShownPlaces } from './event-log/client-output-indexes.ts'

export type Conclusion =
  | { readonly status: 'cancelled'; readonly failure: null }
  | { readonly status: 'failed'; readonly failure: Failure }

export const CANCELLED: Conclusion = { status: 'cancelled', failure: null }

/** `false` if the run was not the holder's any more, and nothing was written. */
export async function concludeRun(
  hold: RunHold,
  { status, failure }: Conclusion,
  world: World,
): Promise<Held> {
  const { runs, nowMs } = world
  const { turnId, tenant } = hold
  const run = await readRun(hold, turnId, runs)
  if (run === null) return false
  const { shown, keptAt } = await placesIn(hold, world)
  const words = lastWords(run.groups, { status, failure, finished: shown })
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

async function placesIn(hold: RunHold, { runs, store }: World): Promise<ShownPlaces> {
  const { tenant, turnId } = hold
  const kept = await runs.journaledItems(tenant, turnId)
  if (kept.size === 0) return shownPlaces(kept, [])
  const chain = await store.loadChain(hold, turnId)
  return shownPlaces(kept, chain?.at(-1)?.output ?? [])
}
