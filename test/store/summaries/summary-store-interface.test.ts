import { describe, expect, test } from 'vitest'
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { ReadFailure } from '../../../src/store/encryption/decrypt-rows.ts'
import { createSummaryStore } from '../../../src/store/summaries/sql-summary-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import { reEncryptRows } from '../../../src/store/encryption/re-encrypt-rows.ts'
import { createStorageCipher } from '../../../src/store/encryption/cipher.ts'
import {
  createSummaryStatements,
  type NewSummaryRow,
} from '../../../src/store/summaries/summary-statements.ts'
import { toStoredSummary, newSummary, testSummaries } from '../contract-summaries.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'
import { expectIndexes } from '../expect-indexes.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('summaries on %s', (_, open, encryption) =>
  testSummaries(open, encryption),
)

test('summaries are encrypted, re-encrypted with a new key, and not found without it', async () => {
  const engine = await openNodeSqlite(':memory:')
  await migrate(engine)
  const keyOf = (kid: string, byte: number) => ({ kid, key: new Uint8Array(32).fill(byte) })
  const [old, recent] = [keyOf('old', 1), keyOf('new', 2)]
  const unreadable: ReadFailure[] = []
  const vaultWith = (...keys: readonly ReturnType<typeof keyOf>[]) => ({
    cipher: createStorageCipher(keys),
    onUnreadable: (failures: readonly ReadFailure[]) => void unreadable.push(...failures),
  })
  const summary = newSummary({ text: 'a secret', facts: ['a secret as well'] })
  await createSummaryStore(engine, vaultWith(old)).saveSummary(summary)
  const bodies = await engine.read([{ name: null, sql: 'select * from summaries', parameters: [] }])
  expect(JSON.stringify(bodies)).not.toContain('secret')
  const found = (...keys: readonly ReturnType<typeof keyOf>[]) =>
    createSummaryStore(engine, vaultWith(...keys)).findSummaries(summary, [summary.prefixHash], 3)
  expect(await found(recent)).toEqual([])
  expect(unreadable).toEqual([{ why: 'key-missing', kid: 'old' }])
  await reEncryptRows(engine, createStorageCipher([recent, old]), () => undefined)
  expect(await found(recent)).toEqual([toStoredSummary(summary)])
  await engine.close()
})

const owner = { tenant: 't', user: 'u7' }

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const sql = createSummaryStatements(language)
  return {
    findSummaries: sql.findSummaries({ ...owner, hashes: '["h7","h8"]', limit: 3 }),
    deleteSummary: sql.deleteSummary({ ...owner, id: 's7' }),
    touchSummary: sql.touchSummary({ ...owner, id: 's7', nowMs: 1 }),
    removeOfThread: sql.removeOfThread({ ...owner, turnId: '7' }),
    removeOfDeleted: sql.removeOfDeleted({ ...owner, id: '7' }),
    removeErased: sql.removeErased({
      ...owner,
      user_id: 'u7',
      prefix_hash: 'h7',
    } as Partial<NewSummaryRow> as NewSummaryRow),
    removeOfConversation: sql.removeOfConversation({ ...owner, id: 'conv_7' }),
    removeUnused: sql.removeUnused('all')({ unusedSinceMs: 5, limit: 10 }),
  }
}

describe('cost of summary queries with any number of summaries', () => {
  expectIndexes({
    queriesFor,
    own: 'wanted',
    async fill(engine) {
      const sql = `insert into summaries (id, tenant, user_id, thread, conversation, prefix_hash,
          turns, items, body, tokens_before, tokens_after, model, prompt_version, generation,
          created_at, used_at, short_lived)
        select 's' || n, 't', 'u' || n % 50, 't' || n, 'conv_' || n, 'h' || n, 1, 1, '{}', 1, 1, 'm',
          1, 1, n, n, n % 2 from generate_series(1, 3000) n`
      await engine.write([{ name: null, sql, parameters: [] }])
    },
  })
})
