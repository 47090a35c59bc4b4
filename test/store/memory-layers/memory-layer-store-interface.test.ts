import { describe, expect, test } from 'vitest'
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import { createMemoryLayerStore } from '../../../src/store/memory-layers/sql-memory-layer-store.ts'
import {
  createMemoryLayerStatements,
  type NewLayerVersionRow,
} from '../../../src/store/memory-layers/memory-layer-statements.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import { reEncryptRows } from '../../../src/store/encryption/re-encrypt-rows.ts'
import { createStorageCipher } from '../../../src/store/encryption/cipher.ts'
import { toStoredVersion, testMemoryLayers, newVersion } from '../contract-layers.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'
import { expectIndexes } from '../expect-indexes.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('memory layers on %s (C40)', (_, open, encryption) =>
  testMemoryLayers(open, encryption),
)

test('layer versions are encrypted, re-encrypted with a new key, and not found without it', async () => {
  const engine = await openNodeSqlite(':memory:')
  await migrate(engine)
  const keyOf = (kid: string, byte: number) => ({ kid, key: new Uint8Array(32).fill(byte) })
  const [old, recent] = [keyOf('old', 1), keyOf('new', 2)]
  const storeWith = (...keys: readonly ReturnType<typeof keyOf>[]) =>
    createMemoryLayerStore(engine, {
      cipher: createStorageCipher(keys),
      onUnreadable: () => undefined,
    })
  const place = { owner: { tenant: 't', user: null }, layer: 'working_memory', thread: 'thread' }
  const version = newVersion(place, { body: { memory: { a: 'secret' } } })
  await storeWith(old).saveVersion(version)
  const rows = await engine.read([
    { name: null, sql: 'select * from layer_versions', parameters: [] },
  ])
  expect(JSON.stringify(rows)).not.toContain('secret')
  expect(await storeWith(recent).loadVersions(place)).toEqual([])
  await reEncryptRows(engine, createStorageCipher([recent, old]), () => undefined)
  expect(await storeWith(recent).loadVersions(place)).toEqual([toStoredVersion(version)])
  await engine.close()
})

const owner = { tenant: 't', user: 'u7' }
const key = { ...owner, layer: 'working_memory', thread: 't7' }

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const sql = createMemoryLayerStatements(language)
  return {
    loadVersions: sql.loadVersions({ ...key, limit: 48 }),
    removeOld: sql.removeOld({ ...key, upTo: 3 }),
    deleteVersions: sql.deleteVersions(key),
    touchVersions: sql.touchVersions({ ...key, nowMs: 1 }),
    removeOfThread: sql.removeOfThread({ ...owner, turnId: '7' }),
    removeErased: sql.removeErased({
      ...key,
      user_id: 'u7',
      number: 3,
    } as Partial<NewLayerVersionRow> as NewLayerVersionRow),
    removeOfConversation: sql.removeOfConversation({ ...owner, id: 't7' }),
    removeUnused: sql.removeUnused('all')({ unusedSinceMs: 5, limit: 10 }),
  }
}

describe('cost of layer queries with any number of versions', () => {
  expectIndexes({
    queriesFor,
    own: 'wanted',
    async fill(engine) {
      const sql = `insert into layer_versions (id, tenant, user_id, layer, thread, number, round,
          body, created_at, used_at, short_lived)
        select 'l' || n, 't', 'u' || n % 50, 'working_memory', 't' || n % 300, n, n, '{}', n, n,
          n % 2 from generate_series(1, 3000) n`
      await engine.write([{ name: null, sql, parameters: [] }])
    },
  })
})
