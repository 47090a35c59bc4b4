/** The databases on which the contract tests run, each real, migrated and new for every suite. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getPlatformProxy } from 'wrangler'
import { openD1, type D1Binding } from '../../src/store/database/d1-engine.ts'
import { openNodeSqlite } from '../../src/store/database/node-sqlite-engine.ts'
import { openPostgres } from '../../src/store/database/postgres-engine.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { migrate } from '../../src/store/database/migrate.ts'
import { createStorageCipher } from '../../src/store/encryption/cipher.ts'
import { NO_ENCRYPTION, type RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { enforceD1Limits } from './limited-d1.ts'
import { isSampled } from '../support/sample.ts'
import { createDatabase } from '../support/postgres.ts'

/** Opens an engine whose `close` also deletes the database. */
export type OpenEngine = () => Promise<Engine>

export const ENGINES: readonly (readonly [name: string, open: OpenEngine])[] = [
  ['a SQLite file', openFile],
  ['SQLite in memory', async () => migrated(await openNodeSqlite(':memory:'))],
  ['Postgres', openOnPostgres],
  ['D1', openLocalD1],
]

/**
 * SQLite, Postgres and D1. The sample seed chooses between a plain SQLite file and encrypted SQLite in memory, and which
 * one of Postgres and D1 is encrypted.
 */
export const ENGINES_PLAIN_AND_ENCRYPTED: readonly (readonly [
  name: string,
  open: OpenEngine,
  encryption: RowEncryption,
])[] = ENGINES.flatMap(([name, open], index) => {
  const plain = [name, open, NO_ENCRYPTION] as const
  const encrypted = [`${name}, encrypted`, open, createTestEncryption()] as const
  if (name === 'a SQLite file') return isSampled(0, 2) ? [plain] : []
  if (name === 'SQLite in memory') return isSampled(1, 2) ? [encrypted] : []
  return [plain, encrypted].filter((_, position) => isSampled(index + position, 2))
})

/** Contract tests fail if a row cannot be read. */
function createTestEncryption(): RowEncryption {
  return {
    cipher: createStorageCipher([{ kid: 'k1', key: new Uint8Array(32).fill(7) }]),
    onUnreadable(failures) {
      throw new Error(`${failures.length} rows cannot be read.`)
    },
  }
}

async function openFile(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-store-'))
  const engine = await openNodeSqlite(join(folder, 'made', 'for-it', 'turns.db'))
  return migrated(withCleanUp(engine, () => rmSync(folder, { recursive: true })))
}

async function openOnPostgres(): Promise<Engine> {
  const { url, drop } = await createDatabase()
  return withCleanUp(openPostgres(url), drop)
}

async function openLocalD1(): Promise<Engine> {
  process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false'
  process.env['WRANGLER_SEND_METRICS'] = 'false'
  const { env, dispose } = await getPlatformProxy<{ readonly DB: D1Binding }>({
    configPath: new URL('../../wrangler.toml', import.meta.url).pathname,
    persist: false,
  })
  return migrated(withCleanUp(openD1(enforceD1Limits(prepareOnce(env.DB))), dispose))
}

/** Each `prepare` waits for the process of the database, so each text is prepared once. */
function prepareOnce(database: D1Binding): D1Binding {
  const statements = new Map<string, ReturnType<D1Binding['prepare']>>()
  return {
    prepare(sql) {
      const statement = statements.get(sql) ?? database.prepare(sql)
      statements.set(sql, statement)
      return statement
    },
    batch: (bound) => database.batch(bound),
  }
}

async function migrated(engine: Engine): Promise<Engine> {
  await migrate(engine)
  return engine
}

function withCleanUp(engine: Engine, cleanUp: () => void | Promise<void>): Engine {
  return {
    ...engine,
    async close() {
      await engine.close()
      await cleanUp()
    },
  }
}
