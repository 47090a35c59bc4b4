/**
 * Ends a run that was cancelled, that failed before it could be answered, or whose replica stopped. If the
 * run has an event log, the closing events are stored in the same write as the end of the turn. If the database rejects
 * the unfinished items, the run ends without them.
 */
import { isPermanentFailure } from '../core/errors/database-error.ts'
import type { ClaimMemory } from '../core/ports/claim-memory.ts'
import type { Failure } from '../core/stream-event.ts'
import type { OwnedRun } from '../store/background-runs/run-store-interface.ts'
import { createClosingEvents } from './event-log/closing-events.ts'
import { readCompleteRunLog } from './event-log/read-complete-run-log.ts'
import {
  mapClientOutputIndexes,
  type ClientOutputIndexes,
} from './event-log/map-stored-and-client-indexes.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export type RunConclusion =
  | { readonly status: 'cancelled'; readonly failure: null }
  | { readonly status: 'failed'; readonly failure: Failure }

export const CANCELLED: RunConclusion = { status: 'cancelled', failure: null }

/**
 * Ends a run. Resolves to false, and writes nothing, if the run belongs to another replica now. `claimMemory` is called
 * for its log and items.
 */
export async function endRunEarly(
  ownedRun: OwnedRun,
  { status, failure }: RunConclusion,
  ports: Ports<'nowMs' | 'runs' | 'store'>,
  claimMemory: ClaimMemory = () => undefined,
): Promise<boolean> {
  const { runs, nowMs } = ports
  const { turnId, tenant, user } = ownedRun
  const run = await readCompleteRunLog(ownedRun, turnId, runs, claimMemory)
  if (run === null) return false
  const { storedClientIndexes, toStoredIndex } = await loadOutputIndexes(
    ownedRun,
    ports,
    claimMemory,
  )
  const ending = { status, failure, storedIndexes: storedClientIndexes }
  const closing = createClosingEvents(run.groups, ending)
  const unfinished = closing?.unfinishedItems ?? []
  const end = {
    turnId,
    tenant,
    user,
    state: status,
    usage: null,
    failure,
    origin: run.origin,
    items: unfinished.map(({ position, item }) => ({ position: toStoredIndex(position), item })),
    hasConversationLock: run.conversation !== null,
    endedAtMs: nowMs(),
  }
  try {
    return await runs.endRun(ownedRun, end, closing?.events ?? null)
  } catch (error) {
    // Without another try, the run would stay in progress, and each request for it would repeat this failing write.
    if (!isPermanentFailure(error)) throw error
    const shortClosing = createClosingEvents(run.groups, { ...ending, omitsItems: true })
    return runs.endRun(ownedRun, { ...end, items: [] }, shortClosing?.events ?? null)
  }
}

async function loadOutputIndexes(
  ownedRun: OwnedRun,
  { runs, store }: Ports<'runs' | 'store'>,
  claimMemory: ClaimMemory,
): Promise<ClientOutputIndexes> {
  const { tenant, turnId } = ownedRun
  const stored = await runs.findStoredPositions(tenant, turnId)
  if (stored.size === 0) return mapClientOutputIndexes(stored, [])
  const chain = await store.loadChain(ownedRun, turnId, {
    claimMemory,
    undecryptable: 'leave-out',
  })
  return mapClientOutputIndexes(stored, chain?.at(-1)?.output ?? [])
}
