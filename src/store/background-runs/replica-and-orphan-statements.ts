/**
 * SQL for replicas: records until when each replica is alive, and finds the runs of one replica and
 * the runs that no live replica owns. Also deletes old rows of replicas and logs. Claiming a run is in
 * `run-and-log-statements.ts`.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isTurnErased } from '../deletion/erased-conditions.ts'
import type { ExpectedTime } from '../leases/database-clock.ts'
import { DATABASE_TIME, isTimeExpected } from '../leases/lease-conditions.ts'
import { createLeaseStatements } from '../leases/lease-statements.ts'
import { deletePiecesOfEvents } from '../pieces/text-piece-statements.ts'
import { IS_RUN_UNFINISHED, isRunOrphaned } from './orphan-condition.ts'
import { MAX_ORPHANS_PER_QUERY, MAX_RUNS_PER_QUERY } from './run-store-interface.ts'
import { DEAD_REPLICA_RETENTION_MS } from './retention-and-orphan-times.ts'

interface OwnedRunLookup {
  readonly replicaId: string
  readonly ids: readonly string[]
}

interface OldLogSearch {
  readonly beforeTurnId: string
}

interface OrphanSearch extends ExpectedTime {
  readonly afterTurnId: string
}

export function createReplicaAndOrphanStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const time = DATABASE_TIME[language]
  return {
    ...createLeaseStatements(language),
    // A replica without a row counts as dead, so no row is deleted while the time is uncertain.
    deleteDeadReplicas: compile<ExpectedTime>(
      'delete-dead-replicas',
      (slot) => sql`delete from replicas where ${isTimeExpected(slot, language)}
        and alive_until < ${time} - ${sql.lit(DEAD_REPLICA_RETENTION_MS)}`,
    ),
    /** Must run before `deleteOldLogs`, which deletes the rows by which both select the turns. */
    deleteOldPieces: compile('delete-old-log-pieces', deleteOldPieces),
    deleteOldLogs: compile('delete-old-logs', deleteOldLogs),
    selectOwnedRuns: compile('select-owned-runs', selectOwnedRuns),
    selectOrphanedRuns: compile<OrphanSearch>('orphaned-runs', (slot) =>
      selectOrphanedRuns(slot, language),
    ),
  }
}

/**
 * Deletes the logs of finished turns whose id sorts before `beforeTurnId`. Turn ids begin with the
 * time, so these are old turns. Examines the `MAX_RUNS_PER_QUERY` oldest logs per call.
 */
function deleteOldLogs(slot: ParameterSlot<OldLogSearch>): SqlFragment {
  return sql`delete from stream_events where turn_id in (${selectOldLogs(slot)})
    and not exists (
      select turns.id from turns where turns.id = stream_events.turn_id and ${IS_RUN_UNFINISHED})`
}

function deleteOldPieces(slot: ParameterSlot<OldLogSearch>): SqlFragment {
  return sql`${deletePiecesOfEvents(selectOldLogs(slot))} and not exists (
      select turns.id from turns where turns.id = text_pieces.turn_id and ${IS_RUN_UNFINISHED})`
}

function selectOldLogs(slot: ParameterSlot<OldLogSearch>): SqlFragment {
  return sql`select distinct old.turn_id from stream_events as old
    where old.turn_id < ${slot('beforeTurnId')}
    order by old.turn_id limit ${sql.lit(MAX_RUNS_PER_QUERY)}`
}

function selectOwnedRuns(slot: ParameterSlot<OwnedRunLookup>): SqlFragment {
  const ids = Array.from({ length: MAX_RUNS_PER_QUERY }, (_, index) =>
    slot(({ ids }) => ids[index] ?? ''),
  )
  return sql`select turns.id from turns where turns.id in (${sql.join(ids)})
    and turns.owner = ${slot('replicaId')} and ${IS_RUN_UNFINISHED} and not ${isTurnErased()}`
}

/**
 * Selects orphaned runs with a greater id than `afterTurnId`, in the order of their ids. The concatenation with an
 * empty text prevents planners from reading all turns in the order of their primary key.
 */
function selectOrphanedRuns(
  slot: ParameterSlot<OrphanSearch>,
  language: Engine['language'],
): SqlFragment {
  return sql`select turns.id, turns.tenant, turns.user_id, turns.owner
    from turns left join replicas on replicas.id = turns.owner
    where ${isRunOrphaned(slot, language)} and turns.id || '' > ${slot('afterTurnId')}
    and not ${isTurnErased()}
    order by turns.id || '' limit ${sql.lit(MAX_ORPHANS_PER_QUERY)}`
}
