/** Tests for the store of idempotency keys on every database. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createIdempotencyStatements } from '../../../src/store/idempotency/idempotency-statements.ts'
import {
  KEY_LIFETIME_MS,
  type NewKeyClaim,
} from '../../../src/store/idempotency/idempotency-store-interface.ts'
import { ENGINES } from '../engines.ts'
import { expectIndexes } from '../expect-indexes.ts'
import { newId } from '../turns.ts'

const NOW = 1_795_000_000_000

function newClaim(fields: Partial<NewKeyClaim> = {}): NewKeyClaim {
  return {
    tenant: 'local',
    user: null,
    keyId: newId(),
    fingerprint: 'f',
    turnId: newId(),
    replicaId: 'R1',
    nowMs: NOW,
    ...fields,
  }
}

describe.each(ENGINES)('idempotency keys on %s', (_, open) => {
  let engine: Engine
  let stores: Stores
  beforeAll(async () => {
    engine = await open()
    stores = createStores(engine)
  })
  afterAll(() => engine.close())

  test('of many claims of a key at once exactly one is stored', async () => {
    const { keyId } = newClaim()
    const claims = Array.from({ length: 12 }, () => newClaim({ keyId }))
    const { idempotency } = stores
    const areStored = await Promise.all(claims.map((claim) => idempotency.claimKey(claim)))
    const winners = claims.filter((_claim, at) => areStored[at])
    expect(winners).toHaveLength(1)
    const winner = winners[0] as NewKeyClaim
    expect(await idempotency.findClaim(keyId)).toEqual({
      fingerprint: 'f',
      turnId: winner.turnId,
      // R1 has no lease.
      replicaId: null,
    })
    // A claim is repeated if the response of the database was lost.
    expect(await idempotency.claimKey(winner)).toBe(true)
  })

  test('a claim names its replica until the key is used up or the lease of the replica is over', async () => {
    const claim = newClaim({ replicaId: 'R2' })
    await stores.runs.renewReplica('R2', 30_000, NOW)
    await stores.idempotency.claimKey(claim)
    const { idempotency } = stores
    expect(await idempotency.findClaim(claim.keyId)).toMatchObject({ replicaId: 'R2' })
    await stores.runs.retireReplica('R2')
    expect(await idempotency.findClaim(claim.keyId)).toMatchObject({ replicaId: null })
    await stores.runs.renewReplica('R2', 30_000, NOW)
    await idempotency.useUpKey(claim.keyId, newId())
    expect(await idempotency.findClaim(claim.keyId)).toMatchObject({ replicaId: 'R2' })
    await idempotency.useUpKey(claim.keyId, claim.turnId)
    expect(await idempotency.findClaim(claim.keyId)).toMatchObject({
      turnId: claim.turnId,
      replicaId: null,
    })
    expect(await idempotency.isTurnOfKey(claim.turnId)).toBe(true)
  })

  test('a released key is free, and only the request that claimed it can release it', async () => {
    const claim = newClaim()
    const { idempotency } = stores
    await idempotency.claimKey(claim)
    await idempotency.releaseKey(claim.keyId, newId())
    expect(await idempotency.findClaim(claim.keyId)).not.toBeNull()
    await idempotency.releaseKey(claim.keyId, claim.turnId)
    expect(await idempotency.findClaim(claim.keyId)).toBeNull()
    expect(await idempotency.isTurnOfKey(claim.turnId)).toBe(false)
    expect(await idempotency.claimKey({ ...claim, turnId: newId() })).toBe(true)
  })

  test('a key can be used again after 24 hours, whether or not its claim was deleted', async () => {
    const claim = newClaim()
    const { idempotency } = stores
    await idempotency.claimKey(claim)
    const again = { ...claim, turnId: newId(), fingerprint: 'g' }
    const [almost, later] = [NOW + KEY_LIFETIME_MS - 1, NOW + KEY_LIFETIME_MS]
    expect(await idempotency.claimKey({ ...again, nowMs: almost })).toBe(false)
    expect(await idempotency.claimKey({ ...again, nowMs: later })).toBe(true)
    expect(await idempotency.findClaim(claim.keyId)).toMatchObject({ fingerprint: 'g' })
  })

  test('the hourly deletion removes keys after 24 hours', async () => {
    const [old, recent] = [newClaim(), newClaim({ nowMs: NOW + 1 })]
    const { idempotency, deletion } = stores
    await Promise.all([old, recent].map((claim) => idempotency.claimKey(claim)))
    await deletion.expireTurns({
      chats: 'temporary',
      unusedSinceMs: 0,
      nowMs: NOW + KEY_LIFETIME_MS,
      after: null,
      limit: 10,
    })
    expect(await idempotency.findClaim(old.keyId)).toBeNull()
    expect(await idempotency.findClaim(recent.keyId)).not.toBeNull()
  })

  test('the keys of a user are deleted with the user', async () => {
    const ann = 'a"nn\0'
    const own = newClaim({ user: ann })
    const others = [newClaim({ user: 'bob' }), newClaim(), newClaim({ tenant: 't', user: ann })]
    const { idempotency, deletion } = stores
    await Promise.all([own, ...others].map((claim) => idempotency.claimKey(claim)))
    await deletion.deleteUser('local', ann, NOW)
    expect(await idempotency.findClaim(own.keyId)).toBeNull()
    for (const { keyId } of others) expect(await idempotency.findClaim(keyId)).not.toBeNull()
  })
})

expectIndexes({
  queriesFor(language) {
    const sql = createIdempotencyStatements(language)
    const key = { id: 'x', turn_id: 'y' }
    return {
      selectClaim: sql.selectClaim({ ...key, earliestMs: 0, latestMs: 1 }),
      useUp: sql.useUp(key),
      release: sql.release(key),
      selectByTurn: sql.selectByTurn(key),
      removeExpired: sql.removeExpired({ nowMs: NOW, limit: 10 }),
    }
  },
})
