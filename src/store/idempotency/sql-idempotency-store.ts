/** SQL implementation of `IdempotencyStore` for any engine. Each method takes one round trip. */
import {
  decodeColumnText,
  encodeColumnText,
  encodeNullableColumn,
} from '../database/encode-column-text.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { IdempotencyKeyRow } from '../database/table-row-types.ts'
import { TRUSTED_CLOCK, type DatabaseClock } from '../leases/database-clock.ts'
import { createIdempotencyStatements } from './idempotency-statements.ts'
import type { IdempotencyStore, KeyClaim, NewKeyClaim } from './idempotency-store-interface.ts'

export function createIdempotencyStore(
  engine: Engine,
  clock: DatabaseClock = TRUSTED_CLOCK,
): IdempotencyStore {
  const sql = createIdempotencyStatements(engine.language)
  return {
    async claimKey(claim) {
      const [rows = []] = await engine.write([sql.insertClaim(encodeClaim(claim))])
      return rows.length > 0
    },
    async findClaim(keyId) {
      const [rows = []] = await engine.read([
        sql.selectClaim({ id: keyId, ...clock.getExpectedTime() }),
      ])
      return decodeClaim(rows)
    },
    async useUpKey(keyId, turnId) {
      await engine.write([sql.useUp({ id: keyId, turn_id: encodeColumnText(turnId) })], 'kill')
    },
    async releaseKey(keyId, turnId) {
      await engine.write([sql.release({ id: keyId, turn_id: encodeColumnText(turnId) })], 'kill')
    },
    async isTurnOfKey(turnId) {
      const [rows = []] = await engine.read([
        sql.selectByTurn({ turn_id: encodeColumnText(turnId) }),
      ])
      return rows.length > 0
    },
  }
}

function encodeClaim(claim: NewKeyClaim): IdempotencyKeyRow {
  return {
    id: claim.keyId,
    tenant: encodeColumnText(claim.tenant),
    user_id: encodeNullableColumn(claim.user),
    fingerprint: claim.fingerprint,
    turn_id: encodeColumnText(claim.turnId),
    owner: claim.replicaId,
    created_at: claim.nowMs,
  }
}

type FoundRow = Pick<IdempotencyKeyRow, 'fingerprint' | 'turn_id'> & {
  readonly living_owner: string | null
}

function decodeClaim(rows: readonly unknown[]): KeyClaim | null {
  const [row] = rows as readonly FoundRow[]
  if (row === undefined) return null
  return {
    fingerprint: row.fingerprint,
    turnId: decodeColumnText(row.turn_id),
    replicaId: row.living_owner,
  }
}
