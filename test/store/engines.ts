/** Every database that must keep the store's contract, real and migrated, made anew for a suite. */
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
import {
  NO_ENCRYPTION,
  type RowEncryption,
} from '../../src/store/encryption/read-encrypted-rows.ts'
import { isSampled } from '../support/sample.ts'
import { createDatabase } from '../support/postgres.ts'

/** Its `close` also removes what was made for it. */
export type OpenEngine = () => Promise<Engine>

export const ENGINES: readonly (readonly [name: string, open: OpenEngine])[] = [
  ['a SQLite file', openFile],
  ['SQLite in memory', async () => migrated(await openNodeSqlite(':memory:'))],
  ['Postgres', openOnPostgres],
  ['D1', openLocalD1],
]

/**
 * All of them once as they are and once sealed, which is the same for a file and for memory. A run has
 * one of Postgres and D1 sealed, and the other one as it is.
 */
export const SEALED_OR_NOT: readonly (readonly [
  name: string,
  open: OpenEngine,
  vault: RowEncryption,
])[] = ENGINES.flatMap(([name, open], at) => {
  const plain = [name, open, NO_ENCRYPTION] as const
  const sealed = [`${name}, sealed`, open, sealedVault()] as const
  if (name === 'a SQLite file') return [plain]
  if (name === 'SQLite in memory') return [plain, sealed]
  return [plain, sealed].filter((_, isSealed) => isSampled(at + isSealed, 2))
})

/** Whoever cannot read a row in a contract has broken it. */
function sealedVault(): RowEncryption {
  return {
    sealer: createStorageCipher([{ kid: 'k1', key: new Uint8Array(32).fill(7) }]),
    onUnreadable(count) {
      throw new Error(`${count} rows cannot be read.`)
    },
  }
}

async function openFile(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-store-'))
  const engine = await openNodeSqlite(join(folder, 'made', 'for-it', 'turns.db'))
  return migrated(closing(engine, () => rmSync(folder, { recursive: true })))
}

async function openOnPostgres(): Promise<Engine> {
  const { url, drop } = await createDatabase()
  return closing(openPostgres(url), drop)
}

async function openLocalD1(): Promise<Engine> {
  process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false'
  process.env['WRANGLER_SEND_METRICS'] = 'false'
  const { env, dispose } = await getPlatformProxy<{ readonly DB: D1Binding }>({
    configPath: new URL('../../wrangler.toml', import.meta.url).pathname,
    persist: false,
  })
  return migrated(closing(openD1(preparedOnce(env.DB)), dispose))
}

/** Each `prepare` waits for the process of the database, so each text is prepared once. */
function preparedOnce(database: D1Binding): D1Binding {
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

function closing(engine: Engine, cleanUp: () => void | Promise<void>): Engine {
  return {
    ...engine,
    async close() {
      await engine.close()
      await cleanUp()
    },
  }
}
