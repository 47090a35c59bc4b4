/**
 * The memory of runs that outlive their client: the log of what they said, and who runs them.
 *
 * A run belongs to its owner. Whoever wants to end or to repeat somebody else's run takes it over
 * first; from then on nothing that the former owner writes has any effect, so that a log is never
 * written by two. Every verb may be repeated.
 */
import type { Origin } from '../../core/item.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { NewTurn, PlacedItem, TurnEnding, TurnState } from '../turns/turn-store-interface.ts'

export interface RunStore {
  /** Creates the turn of a run together with the first events of its log. */
  readonly openRun: (turn: NewTurn, opening: EventGroup | null) => Promise<void>
  /** Tells that the work on a queued run has begun. */
  readonly startRun: (hold: RunHold) => Promise<RunHoldResult>
  /** Adds events and finished items to a run, all of them or none. */
  readonly recordRun: (
    hold: RunHold,
    events: EventGroup | null,
    items: readonly PlacedItem[],
  ) => Promise<RunHoldResult>
  /** Adds the last events and items and ends the turn, at once. */
  readonly endRun: (
    hold: RunHold,
    ending: TurnEnding,
    events: EventGroup | null,
  ) => Promise<RunHoldResult>
  /** Makes `owner` the owner, if the run still is as it was found. */
  readonly takeRun: (run: FoundRun, owner: string) => Promise<RunHoldResult>
  /** Which of these runs are the owner's, and not over; of at most `MAX_RUNS_PER_QUERY`. */
  readonly heldRuns: (owner: string, turnIds: readonly string[]) => Promise<ReadonlySet<string>>
  /** The state of a run with what its log holds from event `from` on, or the beginning of it. */
  readonly readLog: (whose: Caller, turnId: string, from: number) => Promise<RunLogPage | null>
  /** The positions of the output items that a turn has. */
  readonly journaledItems: (tenant: string, turnId: string) => Promise<ReadonlySet<number>>
  /** Some turns that are not over and that nobody works on any more, of all tenants. */
  readonly orphanedRuns: (nowMs: number) => Promise<readonly FoundRun[]>
  /**
   * A replica that is not renewed in time is dead, and what it owns is orphaned. With it goes what
   * is not needed any more: replicas that died long ago, and logs that are older than they are kept.
   */
  readonly renewReplica: (replica: string, nowMs: number, aliveUntilMs: number) => Promise<void>
  readonly retireReplica: (replica: string) => Promise<void>
}

/** Whether the run was the owner's. If not, nothing was written. */
export type RunHoldResult = boolean

/** A run as its owner names it. */
export interface RunHold extends Caller {
  readonly turnId: string
  readonly owner: string
}

/** Whole events of a log as text, by the numbers of the first and the last. */
export interface EventGroup {
  readonly first: number
  readonly last: number
  readonly text: string
}

export interface FoundRun extends Caller {
  readonly turnId: string
  readonly owner: string | null
}

export interface RunLogPage extends FoundRun {
  readonly dialect: string
  readonly origin: Origin
  readonly conversation: string | null
  readonly state: TurnState
  readonly background: boolean
  readonly isDeleted: boolean
  /** Until when its owner is known to be alive. */
  readonly aliveUntilMs: number | null
  readonly createdAtMs: number
  /** Whether it has a log at all. */
  readonly isLogged: boolean
  /**
   * Without a gap; the first may begin before the event that was asked for. One that nobody can read
   * any more is empty.
   */
  readonly groups: readonly EventGroup[]
}

/** As many groups as one page holds, at most. Fewer of them are all that there are. */
export const MAX_PAGE_GROUPS = 32

/** As many runs as `heldRuns` and `orphanedRuns` speak of, at most. */
export const MAX_RUNS_PER_QUERY = 50

/** A turn that says nothing of its owner is given up only when no answer can take that long. */
export const OWNERLESS_RUN_TIMEOUT_MS = 60 * 60 * 1000

/** Beyond what a log can hold; no database compares with more. */
export const MAX_EVENT_NUMBER = 2 ** 31 - 1

/** From the beginning of a run on; of one that is not over, until it is. */
export const LOG_RETENTION_HOURS = 24
