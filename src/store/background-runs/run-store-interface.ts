/**
 * Interface of the store of background runs: their event logs and the replicas that own them.
 *
 * A run is owned by at most one replica. A replica claims a run, i.e. becomes its owner, before it
 * ends or restarts the run of another replica. From then on no write of the former owner has any
 * effect, so two replicas never write the same log. Every method may be repeated, e.g. after a lost
 * connection.
 *
 * The methods that take an `OwnedRun` resolve to false, and write nothing, if its `replicaId` does
 * not own the run any more.
 */
import type { Origin } from '../../core/item.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import type { UndecryptableRule } from '../encryption/decrypt-rows.ts'
import type { NewTurn, PlacedItem, TurnEnding, TurnState } from '../turns/turn-store-interface.ts'

export interface RunStore {
  /** Creates the turn of a run together with the first events of its log. */
  readonly openRun: (turn: NewTurn, opening: EventGroup | null) => Promise<void>
  /** Marks a queued run as started. */
  readonly startRun: (run: OwnedRun) => Promise<boolean>
  /** Marks a started run as queued again. Only for a run of which nothing was sent or recorded. */
  readonly requeueRun: (run: OwnedRun) => Promise<boolean>
  /** Adds events and finished items to a run: all of them or none. */
  readonly recordRun: (
    run: OwnedRun,
    events: EventGroup | null,
    items: readonly PlacedItem[],
  ) => Promise<boolean>
  /** Adds the last events and items and ends the turn, in one transaction. */
  readonly endRun: (
    run: OwnedRun,
    ending: TurnEnding,
    events: EventGroup | null,
  ) => Promise<boolean>
  /**
   * Makes `replicaId` the owner of the run. Resolves to false, and writes nothing, if the run has
   * ended or has changed its owner since it was found.
   */
  readonly claimRun: (run: RunWithReplica, replicaId: string) => Promise<boolean>
  /**
   * Returns those of the turn ids whose runs are unfinished and belong to the replica. Accepts at
   * most `MAX_RUNS_PER_QUERY` ids.
   */
  readonly findOwnedRuns: (
    replicaId: string,
    turnIds: readonly string[],
  ) => Promise<ReadonlySet<string>>
  /** Returns the state of a run and the first page of its log from event `fromEvent` on. */
  readonly readLog: (
    caller: Caller,
    turnId: string,
    fromEvent: number,
    options?: LogReadOptions,
  ) => Promise<RunLogPage | null>
  /** Returns the positions of the output items that are stored for a turn, e.g. 0 and 1. */
  readonly findStoredPositions: (tenant: string, turnId: string) => Promise<ReadonlySet<number>>
  /**
   * Returns up to `MAX_ORPHANS_PER_QUERY` unfinished runs of all tenants that no live replica owns, in
   * the order of their turn ids and with a greater id than `afterTurnId`; the empty text selects the first.
   */
  readonly findOrphanedRuns: (afterTurnId: string) => Promise<readonly RunWithReplica[]>
  /**
   * Extends the lease of a replica, which then ends `leaseMs` from now by the clock of the database.
   * After the end of its lease a replica counts as dead, and its runs as orphaned. Also deletes the logs
   * that are expired at `nowMs`, and replicas whose lease ended long ago.
   */
  readonly renewReplica: (replica: string, leaseMs: number, nowMs: number) => Promise<void>
  readonly retireReplica: (replica: string) => Promise<void>
}

export interface LogReadOptions {
  /** Called for a large page, and before long texts of it are read. */
  readonly claimMemory?: ClaimMemory
  /** By default, a group that cannot be decrypted has an empty text. */
  readonly undecryptable?: UndecryptableRule
}

/**
 * A run and the replica that writes to it as its owner. Meanwhile another replica may have claimed
 * the run.
 */
export interface OwnedRun extends Caller {
  readonly turnId: string
  readonly replicaId: string
}

/**
 * Consecutive events of a log as text. `first` and `last` are the numbers of the first and the last
 * event, e.g. 0 and 7.
 */
export interface EventGroup {
  readonly first: number
  readonly last: number
  readonly text: string
}

export interface RunWithReplica extends Caller {
  readonly turnId: string
  readonly replicaId: string | null
}

export interface RunLogPage extends RunWithReplica {
  readonly dialect: string
  readonly origin: Origin
  readonly conversation: string | null
  readonly state: TurnState
  readonly background: boolean
  readonly isDeleted: boolean
  /** True if the run is unfinished, and no live replica owns it. */
  readonly isOrphaned: boolean
  readonly createdAtMs: number
  /** Number of times that the run was started, i.e. that its request may have been sent to an upstream. */
  readonly startCount: number
  /** True if the run has an event log. */
  readonly isLogged: boolean
  /**
   * Consecutive event groups without a gap. The first group may begin before the requested event.
   * By default, the text of a group that cannot be decrypted is empty.
   */
  readonly groups: readonly EventGroup[]
}

/** Maximum number of event groups in one page of a run's log. A page with fewer groups is the last. */
export const MAX_PAGE_GROUPS = 32

/** Maximum number of runs in one call of `findOwnedRuns`. */
export const MAX_RUNS_PER_QUERY = 50

/** Maximum number of runs that one call of `findOrphanedRuns` returns. */
export const MAX_ORPHANS_PER_QUERY = 500

/** Upper limit of event numbers: the maximum of a 32-bit column, which no log reaches. */
export const MAX_EVENT_NUMBER = 2 ** 31 - 1
