/**
 * Ends a run from outside of its answer: it was cancelled, or nobody is left to go on with it. Its
 * log gets its last words, if it has one, in the same write in which the turn ends.
 */
import type { Failure } from '../conversation/event.ts'
import type { Held, Hold } from '../store/run-store.ts'
import type { World } from '../world.ts'
import { lastWords } from './last-words.ts'
import { readRun } from './read-run.ts'

export type Conclusion =
  | { readonly status: 'cancelled'; readonly failure: null }
  | { readonly status: 'failed'; readonly failure: Failure }

export const CANCELLED: Conclusion = { status: 'cancelled', failure: null }

/** `false` if the run was not the holder's any more, and nothing was written. */
export async function concludeRun(
  hold: Hold,
  { status, failure }: Conclusion,
  { runs, nowMs }: World,
): Promise<Held> {
  const { turnId, tenant } = hold
  const run = await readRun(hold, turnId, runs)
  if (run === null) return false
  const finished = await runs.journaledItems(tenant, turnId)
  const words = lastWords(run.groups, { status, failure, finished })
  const end = {
    turnId,
    tenant,
    state: status,
    usage: null,
    failure,
    origin: run.origin,
    items: words?.items ?? [],
    holdsConversation: run.conversation !== null,
    endedAtMs: nowMs(),
  }
  return runs.endRun(hold, end, words?.events ?? null)
}
