import { describe, expect, test } from 'vitest'
import { extractSearchTerms } from '../../../src/core/text/search-terms.ts'
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import type { FactRow } from '../../../src/store/database/table-row-types.ts'
import { createFactStatements } from '../../../src/store/facts/fact-statements.ts'
import { createFactStore } from '../../../src/store/facts/sql-fact-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import { reEncryptRows } from '../../../src/store/encryption/re-encrypt-rows.ts'
import { createStorageCipher, type StorageKey } from '../../../src/store/encryption/cipher.ts'
import { testFacts, newFact } from '../contract-facts.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'
import { expectIndexes } from '../expect-indexes.ts'

describe.each(ENGINES_PLAIN_AND_ENCRYPTED)('facts on %s', (_, open, encryption) =>
  testFacts(open, encryption),
)

describe('encryption of facts and their search terms', () => {
  const keyOf = (kid: string, byte: number) => ({ kid, key: new Uint8Array(32).fill(byte) })
  const [OLD, NEW] = [keyOf('old', 1), keyOf('new', 2)]
  const fact = newFact({ area: 'plants', text: 'The orchid needs little water' })
  const storeWith = (engine: Engine, ...keys: readonly StorageKey[]) =>
    createFactStore(engine, { cipher: createStorageCipher(keys), onUnreadable: () => undefined })
  const found = async (engine: Engine, ...keys: readonly StorageKey[]) => {
    const search = {
      scopes: ['user'],
      words: extractSearchTerms('orchid'),
      nowMs: 1,
      limit: 5,
    }
    return (await storeWith(engine, ...keys).searchFacts(fact, search)).facts
  }
  const opened = async () => {
    const engine = await openNodeSqlite(':memory:')
    await migrate(engine)
    return engine
  }
  const dumped = async (engine: Engine) => {
    const all = ['facts', 'fact_words'].map((table) => ({
      name: null,
      sql: `select * from ${table}`,
      parameters: [],
    }))
    return JSON.stringify(await engine.read(all))
  }

  test('with a key, the database contains neither the text of a fact nor any of its words', async () => {
    const engine = await opened()
    await storeWith(engine, NEW).saveFact(fact)
    const dump = await dumped(engine)
    for (const word of [...extractSearchTerms(fact.text), 'plants'])
      expect(dump).not.toContain(`"${word}"`)
    expect(dump).not.toMatch(/orchid|plants/i)
    expect(await found(engine, NEW)).toStrictEqual([fact])
    await engine.close()
  })

  test('the same word has different hashes in facts of different owners', async () => {
    const engine = await opened()
    const other = newFact({ ...fact, id: 'fact_other', user: 'bob' })
    await storeWith(engine, NEW).saveFact(fact)
    await storeWith(engine, NEW).saveFact(other)
    const sql = 'select count(distinct word) as words from fact_words'
    const [[row] = []] = await engine.read([{ name: null, sql, parameters: [] }])
    expect(row).toEqual({ words: 2 * extractSearchTerms(fact.text).length })
    await engine.close()
  })

  test('facts that were stored without a key or with an older one are found', async () => {
    const engine = await opened()
    await storeWith(engine).saveFact(fact)
    expect(await found(engine, OLD)).toStrictEqual([fact])
    await storeWith(engine, OLD).replaceFact(fact)
    expect(await found(engine, NEW, OLD)).toStrictEqual([fact])
    expect(await found(engine, NEW)).toEqual([])
    await engine.close()
  })

  test('after re-encryption with a new key, facts are found without the old key', async () => {
    const engine = await opened()
    const plain = newFact({ text: 'An orchid was bought' })
    await storeWith(engine).saveFact(plain)
    await storeWith(engine, OLD).saveFact(fact)
    for (const _ of [1, 2])
      await reEncryptRows(engine, createStorageCipher([NEW, OLD]), () => undefined)
    expect(await found(engine, NEW)).toHaveLength(2)
    expect(await dumped(engine)).not.toMatch(/orchid|old/)
    await engine.close()
  })
})

const owner = { tenant: 't', user: 'u7' }

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const sql = createFactStatements(language)
  const search = { ...owner, scopes: '["user","7"]', termHashes: '["w7","w8"]', nowMs: 1, limit: 3 }
  const key = { ...owner, id: 'f7' }
  const words = { ...key, allTermsHash: 'n', termHashes: '["w7"]' }
  return {
    insertWords: sql.insertWords(words),
    removeWords: sql.removeWords(words),
    findFact: sql.findFact(key),
    factsEnding: sql.factsEnding(key),
    listFacts: sql.listFacts('desc')({ ...owner, after: 'f9', limit: 3 }),
    searchFacts: sql.searchFacts(search),
    countWords: sql.countWords(search),
    countFacts: sql.countFacts(search),
    coreFacts: sql.coreFacts(search),
    touchFacts: sql.touchFacts({ ...owner, ids: '["f7"]', nowMs: 1, usedBeforeMs: 1 }),
    deleteFact: sql.deleteFact(key),
    deleteFacts: sql.deleteFacts(owner),
    removeErased: sql.removeErased({
      tenant: 't',
      user_id: 'u7',
      scope: 'user',
      words: 'n7',
    } as FactRow),
    removeOfThread: sql.removeOfThread({ ...owner, turnId: '7' }),
    removeOfConversation: sql.removeOfConversation({ ...owner, id: 'conv_7' }),
    removeUnused: sql.removeUnused({ unusedSinceMs: 5, limit: 10 }),
    removeExpired: sql.removeExpired({ nowMs: 5, limit: 10 }),
  }
}

describe('cost of fact queries with any number of facts', () => {
  expectIndexes({
    queriesFor,
    own: 'wanted|words|scopes|sought|counted|hits|weights|best|CONSTANT|\\(subquery',
    async fill(engine) {
      const all = [
        `insert into facts (id, tenant, user_id, scope, body, importance, core, words, word_key,
            valid_until, created_at, changed_at, used_at, use_count)
          select 'f' || n, 't', 'u' || n % 50, case n % 3 when 0 then '' || n else 'user' end, '{}',
            0.5, n % 2, 'n' || n, '', n, n, n, n, 0 from generate_series(1, 3000) n`,
        `insert into fact_words (tenant, user_key, scope, word, fact_id)
          select 't', 'u' || n % 50, 'user', 'w' || w, 'f' || n
          from generate_series(1, 3000) n, generate_series(1, 8) w`,
      ]
      await engine.write(all.map((sql) => ({ name: null, sql, parameters: [] })))
    },
  })
})
