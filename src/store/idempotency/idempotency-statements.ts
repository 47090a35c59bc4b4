/** SQL for idempotency keys. */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { IDEMPOTENCY_KEY_COLUMNS, type IdempotencyKeyRow } from '../database/table-row-types.ts'
import { isRowErased } from '../deletion/erased-conditions.ts'
import type { ExpectedTime } from '../leases/database-clock.ts'
import { isLeaseOver } from '../leases/lease-conditions.ts'
import { KEY_LIFETIME_MS } from './idempotency-store-interface.ts'

type ClaimKey = Pick<IdempotencyKeyRow, 'id' | 'turn_id'>

export function createIdempotencyStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    /** Returns a row only if the key was free, if its claim is expired, or if the claim is this one. */
    insertClaim: compile('claim-idempotency-key', insertClaim),
    selectClaim: compile<ExpectedTime & Pick<IdempotencyKeyRow, 'id'>>(
      'select-idempotency-key',
      (slot) => sql`select claims.fingerprint, claims.turn_id,
          case when ${isLeaseOver('replicas.alive_until', slot, language)} then null
            else replicas.id end as living_owner
        from idempotency_keys claims left join replicas on replicas.id = claims.owner
        where claims.id = ${slot('id')}`,
    ),
    useUp: compile<ClaimKey>(
      'use-up-idempotency-key',
      (slot) => sql`update idempotency_keys set owner = null
        where id = ${slot('id')} and turn_id = ${slot('turn_id')}`,
    ),
    release: compile<ClaimKey>(
      'release-idempotency-key',
      (slot) => sql`delete from idempotency_keys
        where id = ${slot('id')} and turn_id = ${slot('turn_id')}`,
    ),
    selectByTurn: compile<Pick<IdempotencyKeyRow, 'turn_id'>>(
      'idempotency-key-of-turn',
      (slot) => sql`select 1 from idempotency_keys where turn_id = ${slot('turn_id')} limit 1`,
    ),
    removeExpired: compile<{ readonly nowMs: number; readonly limit: number }>(
      'remove-expired-idempotency-keys',
      (
        slot,
      ) => sql`delete from idempotency_keys where id in (select expired.id from idempotency_keys expired
        where expired.created_at <= ${slot(({ nowMs }) => nowMs - KEY_LIFETIME_MS)}
        order by expired.created_at limit ${slot('limit')}) returning id`,
    ),
  }
}

function insertClaim(slot: ParameterSlot<IdempotencyKeyRow>): SqlFragment {
  const columns = IDEMPOTENCY_KEY_COLUMNS.map((name) => sql.ref(name))
  const values = IDEMPOTENCY_KEY_COLUMNS.map((name) => slot(name))
  return sql`insert into idempotency_keys (${sql.join(columns)}) values (${sql.join(values)})
    on conflict (id) do update set fingerprint = excluded.fingerprint,
      turn_id = excluded.turn_id, owner = excluded.owner, created_at = excluded.created_at
    where idempotency_keys.created_at <= ${slot(({ created_at }) => created_at - KEY_LIFETIME_MS)}
      or idempotency_keys.turn_id = excluded.turn_id or ${isRowErased('idempotency_keys')}
    returning id`
}
