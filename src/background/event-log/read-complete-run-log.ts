/**
 * Reads a run with all pages of its event log. Resolves to null if the caller has no such run. `claimMemory` is called
 * for each page, because a log contains the text of its answer about four times.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import {
  MAX_PAGE_GROUPS,
  type EventGroup,
  type RunLogPage,
  type RunStore,
} from '../../store/background-runs/run-store-interface.ts'

export async function readCompleteRunLog(
  owner: Caller,
  turnId: string,
  runs: RunStore,
  claimMemory: ClaimMemory = () => undefined,
): Promise<RunLogPage | null> {
  const groups: EventGroup[] = []
  for (let from = 0; ; from = (groups.at(-1)?.last ?? -1) + 1) {
    const page = await runs.readLog(owner, turnId, from, { claimMemory })
    if (page === null) return null
    groups.push(...page.groups)
    if (page.groups.length < MAX_PAGE_GROUPS) return { ...page, groups }
  }
}
