/** The queries of who is alive, who runs what, and what nobody runs any more. */
import { sql, type Kysely } from 'kysely'
import {
  compileStatement,
  createQueryBuilder,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { IS_RUN_UNFINISHED } from './run-and-log-statements.ts'
import { MAX_RUNS_PER_QUERY, OWNERLESS_RUN_TIMEOUT_MS } from './run-store-interface.ts'
import type { Tables } from '../database/table-row-types.ts'

export interface ReplicaAndOrphanStatements {
  readonly renewReplica: CompiledStatement<Renewal>
  /** All that were alive only before then. */
  readonly forgetReplicas: CompiledStatement<number>
  /** Some of the logs of turns that began before the one that is named. */
  readonly forgetLogs: CompiledStatement<string>
  readonly retireReplica: CompiledStatement<string>
  readonly heldRuns: CompiledStatement<Asked>
  readonly orphanedRuns: CompiledStatement<number>
}

interface Renewal {
  readonly id: string
  readonly aliveUntil: number
}

interface Asked {
  readonly owner: string
  readonly ids: readonly string[]
}

export function createReplicaAndOrphanStatements(
  language: Engine['language'],
): ReplicaAndOrphanStatements {
  const db = createQueryBuilder(language)
  return {
    renewReplica: compileStatement('renew-replica', (slot) => renewReplica(db, slot)),
    forgetReplicas: compileStatement('forget-replicas', (slot) =>
      db.deleteFrom('replicas').where(
        'alive_until',
        '<',
        slot((before) => before),
      ),
    ),
    forgetLogs: compileStatement('forget-logs', (slot) => forgetLogs(db, slot)),
    retireReplica: compileStatement('retire-replica', (slot) =>
      db.deleteFrom('replicas').where(
        'id',
        '=',
        slot((id) => id),
      ),
    ),
    heldRuns: compileStatement('held-runs', (slot) => heldRuns(db, slot)),
    orphanedRuns: compileStatement('orphaned-runs', (slot) => orphanedRuns(db, slot)),
  }
}

function renewReplica(db: Kysely<Tables>, slot: ParameterSlot<Renewal>) {
  return db
    .insertInto('replicas')
    .values({ id: slot(({ id }) => id), alive_until: slot(({ aliveUntil }) => aliveUntil) })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((build) => ({ alive_until: build.ref('excluded.alive_until') })),
    )
}

/** A turn's id begins with the time, so the oldest logs are the first of the table. */
function forgetLogs(db: Kysely<Tables>, slot: ParameterSlot<string>) {
  const oldest = db
    .selectFrom('stream_events as old')
    .select('old.turn_id')
    .distinct()
    .where(
      'old.turn_id',
      '<',
      slot((before) => before),
    )
    .orderBy('old.turn_id')
    .limit(MAX_RUNS_PER_QUERY)
  const isRunning = db
    .selectFrom('turns')
    .select('turns.id')
    .where('turns.id', '=', sql.ref<string>('stream_events.turn_id'))
    .where(IS_RUN_UNFINISHED)
  return db
    .deleteFrom('stream_events')
    .where('turn_id', 'in', oldest)
    .where((build) => build.not(build.exists(isRunning)))
}

function heldRuns(db: Kysely<Tables>, slot: ParameterSlot<Asked>) {
  const ids = Array.from({ length: MAX_RUNS_PER_QUERY }, (_, at) =>
    slot(({ ids }) => ids[at] ?? ''),
  )
  return db
    .selectFrom('turns')
    .select('turns.id')
    .where('turns.id', 'in', ids)
    .where(
      'turns.owner',
      '=',
      slot(({ owner }) => owner),
    )
    .where(IS_RUN_UNFINISHED)
}

function orphanedRuns(db: Kysely<Tables>, slot: ParameterSlot<number>) {
  const now = slot((nowMs) => nowMs)
  const longAgo = slot((nowMs) => nowMs - OWNERLESS_RUN_TIMEOUT_MS)
  return db
    .selectFrom('turns')
    .leftJoin('replicas', 'replicas.id', 'turns.owner')
    .select(['turns.id', 'turns.tenant', 'turns.user_id', 'turns.owner'])
    .where(IS_RUN_UNFINISHED)
    .where((build) =>
      build.or([
        build('replicas.alive_until', '<=', now),
        build.and([build('turns.owner', 'is not', null), build('replicas.id', 'is', null)]),
        build.and([build('turns.owner', 'is', null), build('turns.created_at', '<=', longAgo)]),
      ]),
    )
    .limit(MAX_RUNS_PER_QUERY)
}
