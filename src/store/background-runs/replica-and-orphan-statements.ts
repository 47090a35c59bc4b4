/** The queries of who is alive, who runs what, and what nobody runs any more. */
import { sql, type Kysely } from 'kysely'
import { compile, queryBuilder, type Slot, type Statement } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { NOT_OVER } from './run-and-log-statements.ts'
import { MAX_ASKED, OWNERLESS_MS } from './run-store-interface.ts'
import type { Tables } from '../database/table-row-types.ts'

export interface ReplicaStatements {
  readonly renewReplica: Statement<Renewal>
  /** All that were alive only before then. */
  readonly forgetReplicas: Statement<number>
  /** Some of the logs of turns that began before the one that is named. */
  readonly forgetLogs: Statement<string>
  readonly retireReplica: Statement<string>
  readonly heldRuns: Statement<Asked>
  readonly orphanedRuns: Statement<number>
}

interface Renewal {
  readonly id: string
  readonly aliveUntil: number
}

interface Asked {
  readonly owner: string
  readonly ids: readonly string[]
}

export function createReplicaStatements(language: Engine['language']): ReplicaStatements {
  const db = queryBuilder(language)
  return {
    renewReplica: compile('renew-replica', (slot) => renewReplica(db, slot)),
    forgetReplicas: compile('forget-replicas', (slot) =>
      db.deleteFrom('replicas').where(
        'alive_until',
        '<',
        slot((before) => before),
      ),
    ),
    forgetLogs: compile('forget-logs', (slot) => forgetLogs(db, slot)),
    retireReplica: compile('retire-replica', (slot) =>
      db.deleteFrom('replicas').where(
        'id',
        '=',
        slot((id) => id),
      ),
    ),
    heldRuns: compile('held-runs', (slot) => heldRuns(db, slot)),
    orphanedRuns: compile('orphaned-runs', (slot) => orphanedRuns(db, slot)),
  }
}

function renewReplica(db: Kysely<Tables>, slot: Slot<Renewal>) {
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
function forgetLogs(db: Kysely<Tables>, slot: Slot<string>) {
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
    .limit(MAX_ASKED)
  const isRunning = db
    .selectFrom('turns')
    .select('turns.id')
    .where('turns.id', '=', sql.ref<string>('stream_events.turn_id'))
    .where(NOT_OVER)
  return db
    .deleteFrom('stream_events')
    .where('turn_id', 'in', oldest)
    .where((build) => build.not(build.exists(isRunning)))
}

function heldRuns(db: Kysely<Tables>, slot: Slot<Asked>) {
  const ids = Array.from({ length: MAX_ASKED }, (_, at) => slot(({ ids }) => ids[at] ?? ''))
  return db
    .selectFrom('turns')
    .select('turns.id')
    .where('turns.id', 'in', ids)
    .where(
      'turns.owner',
      '=',
      slot(({ owner }) => owner),
    )
    .where(NOT_OVER)
}

function orphanedRuns(db: Kysely<Tables>, slot: Slot<number>) {
  const now = slot((nowMs) => nowMs)
  const longAgo = slot((nowMs) => nowMs - OWNERLESS_MS)
  return db
    .selectFrom('turns')
    .leftJoin('replicas', 'replicas.id', 'turns.owner')
    .select(['turns.id', 'turns.tenant', 'turns.user_id', 'turns.owner'])
    .where(NOT_OVER)
    .where((build) =>
      build.or([
        build('replicas.alive_until', '<=', now),
        build.and([build('turns.owner', 'is not', null), build('replicas.id', 'is', null)]),
        build.and([build('turns.owner', 'is', null), build('turns.created_at', '<=', longAgo)]),
      ]),
    )
    .limit(MAX_ASKED)
}
