/**
 * Interface of the store of background runs: their event logs and the replicas that own them.
 *
 * A run has one owner. A replica that wants to end or repeat the run of another one takes it over
 * first. From then on no write of the former owner has any effect, so two replicas never write the
 * same log. Every method may be repeated.
 */
import type { Origin } from '../../core/item.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { NewTurn, PlacedItem, TurnEnding, TurnState } from '../turns/turn-store-interface.ts'

export interface RunStore {
  /** Creates the turn of a run together with the first events of its log. */
  readonly openRun: (turn: NewTurn, opening: EventGroup | null) => Promise<void>
  /** Marks a queued run as started. */
  readonly startRun: (hold: RunHold) => Promise<RunHoldResult>
  /** Adds events and finished items to a run: all of them or none. */
  readonly recordRun: (
    hold: RunHold,
    events: EventGroup | null,
    items: readonly PlacedItem[],
  ) => Promise<RunHoldResult>
  /** Adds the last events and items and ends the turn, in one transaction. */
  readonly endRun: (
    hold: RunHold,
    ending: TurnEnding,
    events: EventGroup | null,
  ) => Promise<RunHoldResult>
  /** Makes `owner` the owner of the run, unless the run has changed since it was found. */
  readonly takeRun: (run: FoundRun, owner: string) => Promise<RunHoldResult>
  /**
   * Returns those of at most `MAX_RUNS_PER_QUERY` runs that this owner has and that are unfinished.
   */
  readonly heldRuns: (owner: string, turnIds: readonly string[]) => Promise<ReadonlySet<string>>
  /** Returns the state of a run and the first page of its log from event `from` on. */
  readonly readLog: (whose: Caller, turnId: string, from: number) => Promise<RunLogPage | null>
  /** Returns the positions of the stored output items of a turn. */
  readonly journaledItems: (tenant: string, turnId: string) => Promise<ReadonlySet<number>>
  /**
   * Returns up to `MAX_RUNS_PER_QUERY` unfinished runs of all tenants that no live replica owns.
   */
  readonly orphanedRuns: (nowMs: number) => Promise<readonly FoundRun[]>
  /**
   * Extends the lease of a replica. A replica whose lease ends is dead, and its runs are orphaned.
   * Also deletes long-dead replicas and expired logs.
   */
  readonly renewReplica: (replica: string, nowMs: number, aliveUntilMs: number) => Promise<void>
  readonly retireReplica: (replica: string) => Promise<void>
}

/** True if the caller owned the run. If false, nothing was written. */
export type RunHoldResult = boolean

/** A run and the replica that claims to own it. */
export interface RunHold extends Caller {
  readonly turnId: string
  readonly owner: string
}

/** Consecutive events of a log as text, with the numbers of the first and the last, e.g. 0 to 7. */
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
  /** End of the owner's lease, as far as it is known. */
  readonly aliveUntilMs: number | null
  readonly createdAtMs: number
  /** True if the run has a log. */
  readonly isLogged: boolean
  /**
   * The events without a gap. The first group may begin before the requested event. The text of a
   * group that cannot be decrypted is empty.
   */
  readonly groups: readonly EventGroup[]
}

/** Maximum number of groups in one page. A page with fewer groups is the last. */
export const MAX_PAGE_GROUPS = 32

/** Maximum number of runs in one call of `heldRuns` or `orphanedRuns`. */
export const MAX_RUNS_PER_QUERY = 50

/** Larger than the number of any event in a log, and the maximum of a 32-bit column. */
export const MAX_EVENT_NUMBER = 2 ** 31 - 1

const HOUR_MS = 60 * 60 * 1000

/**
 * Time that the log of a run is stored, counted from the start of the run. The log of an unfinished
 * run is stored until the run ends.
 */
export const LOG_RETENTION_HOURS = 24
export const LOG_RETENTION_MS = LOG_RETENTION_HOURS * HOUR_MS

/** Time that the row of a dead replica is stored. A replica without a row counts as dead too. */
export const DEAD_REPLICA_RETENTION_MS = HOUR_MS

/**
 * Age from which on an unfinished run without an owner counts as orphaned: longer than any answer
 * takes.
 */
export const OWNERLESS_RUN_TIMEOUT_MS = HOUR_MS
