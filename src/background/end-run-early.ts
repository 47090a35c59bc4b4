/**
 * Ends a run that cannot end itself, because it was cancelled or its replica stopped. If the run has a
 * log, the closing events are written together with the end of the turn.
 */
import type { Failure } from '../core/stream-event.ts'
import type { OwnedRun } from '../store/background-runs/run-store-interface.ts'
import { createClosingEvents } from './event-log/closing-events.ts'
import { readRun } from './event-log/read-complete-run-log.ts'
import {
  mapClientOutputIndexes,
  type ClientOutputIndexes,
} from './event-log/client-output-indexes.ts'
import type { Ports } from '../gateway/dependencies-interface.ts'

export type RunConclusion =
  | { readonly status: 'cancelled'; readonly failure: null }
  | { readonly status: 'failed'; readonly failure: Failure }

export const CANCELLED: RunConclusion = { status: 'cancelled', failure: null }

/** Resolves to false if the run no longer belonged to the holder and nothing was written. */
export async function endRunEarly(
  hold: OwnedRun,
  { status, failure }: RunConclusion,
  ports: Ports<'nowMs' | 'runs' | 'store'>,
): Promise<boolean> {
  const { runs, nowMs } = ports
  const { turnId, tenant } = hold
  const run = await readRun(hold, turnId, runs)
  if (run === null) return false
  const { visible, toStoredIndex } = await loadOutputIndexes(hold, ports)
  const closing = createClosingEvents(run.groups, { status, failure, finished: visible })
  const unfinished = closing?.items ?? []
  const end = {
    turnId,
    tenant,
    state: status,
    usage: null,
    failure,
    origin: run.origin,
    items: unfinished.map(({ position, item }) => ({ position: toStoredIndex(position), item })),
    holdsConversation: run.conversation !== null,
    endedAtMs: nowMs(),
  }
  return runs.endRun(hold, end, closing?.events ?? null)
}

async function loadOutputIndexes(
  hold: OwnedRun,
  { runs, store }: Ports<'runs' | 'store'>,
): Promise<ClientOutputIndexes> {
  const { tenant, turnId } = hold
  const stored = await runs.journaledItems(tenant, turnId)
  if (stored.size === 0) return mapClientOutputIndexes(stored, [])
  const chain = await store.loadChain(hold, turnId)
  return mapClientOutputIndexes(stored, chain?.at(-1)?.output ?? [])
}
