/** SQL that renews and ends the lease of a replica: a process, or on Workers a run or an open turn. */
import { sql } from 'kysely'
import { createStatementCompiler } from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { DATABASE_TIME } from './lease-conditions.ts'

export function createLeaseStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const time = DATABASE_TIME[language]
  return {
    renewReplica: compile<{ readonly id: string; readonly leaseMs: number }>(
      'renew-replica',
      (slot) => sql`insert into replicas (id, alive_until, lease_ms)
        values (${slot('id')}, ${time} + ${slot('leaseMs')}, ${slot('leaseMs')})
        on conflict (id) do update
        set alive_until = excluded.alive_until, lease_ms = excluded.lease_ms returning alive_until`,
    ),
    retireReplica: compile<{ readonly id: string }>(
      'retire-replica',
      (slot) => sql`delete from replicas where id = ${slot('id')}`,
    ),
  }
}
