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
import { IS_RUN_UNFINISHED } from './run-and-log-statements.ts'
import { MAX_RUNS_PER_QUERY } from './run-store-interface.ts'
import { OWNERLESS_RUN_TIMEOUT_MS } from './retention-and-orphan-times.ts'

interface OwnedRunLookup {
  readonly replicaId: string
  readonly ids: readonly string[]
}

export function createReplicaAndOrphanStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    renewReplica: compile<{ readonly id: string; readonly aliveUntilMs: number }>(
      'renew-replica',
      (slot) => sql`insert into replicas (id, alive_until)
        values (${slot('id')}, ${slot('aliveUntilMs')})
        on conflict (id) do update set alive_until = excluded.alive_until`,
    ),
    deleteDeadReplicas: compile<{ readonly aliveBeforeMs: number }>(
      'delete-dead-replicas',
      (slot) => sql`delete from replicas where alive_until < ${slot('aliveBeforeMs')}`,
    ),
    deleteOldLogs: compile('delete-old-logs', deleteOldLogs),
    retireReplica: compile<{ readonly id: string }>(
      'retire-replica',
      (slot) => sql`delete from replicas where id = ${slot('id')}`,
    ),
    selectOwnedRuns: compile('select-owned-runs', selectOwnedRuns),
    selectOrphanedRuns: compile('orphaned-runs', selectOrphanedRuns),
  }
}

/**
 * Deletes the logs of finished turns whose id sorts before `beforeTurnId`. Turn ids begin with the
 * time, so these are old turns. Examines the `MAX_RUNS_PER_QUERY` oldest logs per call.
 */
function deleteOldLogs(slot: ParameterSlot<{ readonly beforeTurnId: string }>): SqlFragment {
  return sql`delete from stream_events where turn_id in (
      select distinct old.turn_id from stream_events as old
      where old.turn_id < ${slot('beforeTurnId')}
      order by old.turn_id limit ${sql.lit(MAX_RUNS_PER_QUERY)})
    and not exists (
      select turns.id from turns where turns.id = stream_events.turn_id and ${IS_RUN_UNFINISHED})`
}

function selectOwnedRuns(slot: ParameterSlot<OwnedRunLookup>): SqlFragment {
  const ids = Array.from({ length: MAX_RUNS_PER_QUERY }, (_, index) =>
    slot(({ ids }) => ids[index] ?? ''),
  )
  return sql`select turns.id from turns where turns.id in (${sql.join(ids)})
    and turns.owner = ${slot('replicaId')} and ${IS_RUN_UNFINISHED}`
}

function selectOrphanedRuns(slot: ParameterSlot<{ readonly nowMs: number }>): SqlFragment {
  return sql`select turns.id, turns.tenant, turns.user_id, turns.owner
    from turns left join replicas on replicas.id = turns.owner
    where ${IS_RUN_UNFINISHED} and (replicas.alive_until <= ${slot('nowMs')}
      or (turns.owner is not null and replicas.id is null)
      or (turns.owner is null
        and turns.created_at <= ${slot(({ nowMs }) => nowMs - OWNERLESS_RUN_TIMEOUT_MS)}))
    limit ${sql.lit(MAX_RUNS_PER_QUERY)}`
}
