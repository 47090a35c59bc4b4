/**
 * One database of each engine, with a gateway over HTTP: restored from a dump, served, and dumped
 * again. Uses only `src/main/start.js`, `src/main/cloudflare-worker.ts` and `migrations/`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { createTestHarness } from 'wrangler'
import { startChild } from '../support/child-gateway.ts'
import { createDatabase } from '../support/postgres.ts'

export type EngineName = 'sqlite' | 'postgres' | 'd1'

export type Environment = Readonly<Record<string, string>>

export interface Gateway {
  readonly url: string
  /** Stops the gateway without letting it finish anything. */
  readonly kill: () => Promise<void>
}

export interface OldDatabase {
  /** `atMs` is the time on the gateway's clock at the start. */
  readonly serve: (environment: Environment, atMs: number) => Promise<Gateway>
  /** Dumps the database. Called only while no gateway uses it. */
  readonly dump: () => Promise<Buffer>
  /** Every table with its rows. */
  readonly tables: () => Promise<Tables>
  /** `DATABASE_URL` for commands; `null` for D1, which has no commands. */
  readonly settings: Environment | null
  readonly drop: () => Promise<void>
}

export type Tables = Readonly<Record<string, readonly Row[]>>

type Row = Readonly<Record<string, string | number | null>>

/** An empty database of an engine, or one with the contents of a dump. */
export type OpenDatabase = (dump?: Buffer) => Promise<OldDatabase>

export const ENGINES: readonly (readonly [name: EngineName, open: OpenDatabase])[] = [
  ['sqlite', openSqlite],
  ['postgres', openPostgres],
  ['d1', openD1],
]

const ROOT = new URL('../../', import.meta.url)

/** The dump is the file itself. */
async function openSqlite(dump?: Buffer): Promise<OldDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-old-'))
  const path = join(folder, 'backstory.db')
  if (dump !== undefined) writeFileSync(path, dump)
  const settings = { DATABASE_URL: `sqlite:${path}` }
  return {
    settings,
    serve: (environment, atMs) => serveChild({ ...environment, ...settings }, atMs),
    async dump() {
      const copy = join(folder, 'copy.db')
      using database = new DatabaseSync(path)
      // Includes pages that are only in the write-ahead log.
      database.prepare('vacuum into ?').run(copy)
      const bytes = readFileSync(copy)
      rmSync(copy)
      return bytes
    },
    async tables() {
      using database = new DatabaseSync(path)
      const all = (sql: string) => database.prepare(sql).all() as unknown as Row[]
      const names = all(TABLE_NAMES).map(({ name }) => String(name))
      return Object.fromEntries(names.map((name) => [name, all(`select * from ${name}`)]))
    },
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

/** Lists the tables, without those of the engine itself. */
const TABLE_NAMES = `select name from sqlite_master where type = 'table'
  and name not like 'sqlite!_%' escape '!' and name not like '!_cf%' escape '!' order by name`

/** The dump is JSON of all rows. Restoring applies the migrations that its `migrations` table names. */
async function openPostgres(dump?: Buffer): Promise<OldDatabase> {
  const { url, drop } = await createDatabase('empty')
  const settings = { DATABASE_URL: url }
  const query = async <Result>(ask: (client: Client) => Promise<Result>): Promise<Result> => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return await ask(client)
    } finally {
      await client.end()
    }
  }
  const tables = () =>
    query(async (client) => {
      const named = await client.query<{ readonly name: string }>(
        `select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
      )
      const found: Record<string, Row[]> = {}
      for (const { name } of named.rows) {
        found[name] = (await client.query<Row>(`select * from ${name}`)).rows
      }
      return found
    })
  if (dump !== undefined) {
    await query(async (client) => {
      const rows = parentsFirst(JSON.parse(dump.toString()) as Tables)
      await client.query(MIGRATIONS_TABLE)
      for (const { name } of rows['migrations'] ?? []) {
        await client.query(readFileSync(new URL(`migrations/${name}`, ROOT), 'utf8'))
      }
      await client.query('begin')
      for (const [table, row] of eachRow(rows)) {
        const places = Object.keys(row).map((_, at) => `$${at + 1}`)
        await client.query(insertInto(table, row, places), Object.values(row))
      }
      await client.query('commit')
    })
  }
  return {
    settings,
    serve: (environment, atMs) => serveChild({ ...environment, ...settings }, atMs),
    dump: async () => Buffer.from(JSON.stringify(await tables())),
    tables,
    drop,
  }
}

/** The gateway creates it in the same way before the first migration. */
const MIGRATIONS_TABLE = `create table migrations (
  name text not null primary key,
  applied_at text not null default current_timestamp
)`

/** Puts the tables first to which foreign keys refer. */
function parentsFirst(tables: Tables): Tables {
  const { turns = [], media = [], facts = [], ...others } = tables
  return { turns, media, facts, ...others }
}

function* eachRow(tables: Tables): Generator<readonly [table: string, row: Row]> {
  for (const [table, rows] of Object.entries(tables)) for (const row of rows) yield [table, row]
}

function insertInto(table: string, row: Row, places: readonly string[]): string {
  return `insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')})`
}

async function serveChild(environment: Environment, atMs: number): Promise<Gateway> {
  const options = process.env['NODE_OPTIONS'] ?? ''
  const clock = `--import=data:text/javascript,${encodeURIComponent(clockSource(atMs))}`
  const child = await startChild({ ...environment, NODE_OPTIONS: `${options} ${clock}` })
  return { url: child.url, kill: () => child.kill('SIGKILL') }
}

/** A module that moves the clock of the process. */
function clockSource(atMs: number): string {
  return `const late = ${Date.now() - atMs}; const now = Date.now; Date.now = () => now() - late;`
}

interface D1Dump {
  /** The statements that make the tables and their indexes. */
  readonly schema: readonly string[]
  readonly tables: Tables
}

/** The part of a D1 binding that is used here. */
interface D1 {
  readonly prepare: (sql: string) => D1Statement
  readonly batch: (statements: readonly D1Statement[]) => Promise<readonly { results: Row[] }[]>
}

interface D1Statement {
  readonly bind: (...values: Row[string][]) => D1Statement
  readonly all: () => Promise<{ readonly results: Row[] }>
}

/** A binding exists only while a gateway runs; between two gateways the dump is in memory. */
async function openD1(dump?: Buffer): Promise<OldDatabase> {
  let held: D1Dump | null = dump === undefined ? null : (JSON.parse(dump.toString()) as D1Dump)
  const folder = mkdtempSync(join(tmpdir(), 'backstory-old-'))
  return {
    settings: null,
    async serve(environment, atMs) {
      const { url, database, close } = await startWorker(environment, held, folder, atMs)
      return {
        url,
        async kill() {
          held = await dumpD1(database)
          await close()
        },
      }
    },
    dump: async () => Buffer.from(JSON.stringify(held)),
    tables: async () => held?.tables ?? {},
    drop: async () => rmSync(folder, { recursive: true }),
  }
}

async function startWorker(
  environment: Environment,
  held: D1Dump | null,
  folder: string,
  atMs: number,
) {
  process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false'
  process.env['WRANGLER_SEND_METRICS'] = 'false'
  const root = ROOT.pathname
  writeFileSync(join(folder, 'clock.js'), clockSource(atMs))
  const main = join(folder, 'worker.js')
  const source = JSON.stringify(join(root, 'src/main/cloudflare-worker.ts'))
  writeFileSync(main, `import './clock.js'\nexport { default } from ${source}`)
  const configPath = join(folder, 'wrangler.toml')
  const config = readFileSync(join(root, 'wrangler.toml'), 'utf8')
    .replace('"src/main/cloudflare-worker.ts"', JSON.stringify(main))
    .replace('"migrations"', JSON.stringify(join(root, 'migrations')))
  writeFileSync(configPath, config)
  const vars = { MEDIA_FETCH: 'off', ...environment }
  const harness = createTestHarness({ root, workers: [{ configPath, vars }] })
  const { url } = await harness.listen()
  const worker = harness.getWorker<{ readonly DB: D1 }>()
  const { DB: database } = await worker.getEnv()
  if (held !== null) await restoreD1(database, held)
  await worker.applyD1Migrations('DB')
  return { url: url.origin, database, close: () => harness.close() }
}

async function dumpD1(database: D1): Promise<D1Dump> {
  const read = async (sql: string) => (await database.prepare(sql).all()).results
  const names = (await read(TABLE_NAMES)).map(({ name }) => String(name))
  const schema = await read(
    `select sql from sqlite_master where sql is not null and tbl_name in (${TABLE_NAMES.replace('order by name', '')}) order by type desc, rowid`,
  )
  const tables: Record<string, Row[]> = {}
  for (const name of names) tables[name] = await read(`select * from ${name}`)
  return { schema: schema.map(({ sql }) => String(sql)), tables }
}

async function restoreD1(database: D1, { schema, tables }: D1Dump): Promise<void> {
  await database.batch(schema.map((sql) => database.prepare(sql)))
  const inserts = [...eachRow(parentsFirst(tables))].map(([table, row]) => {
    const places = Object.keys(row).map(() => '?')
    return database.prepare(insertInto(table, row, places)).bind(...Object.values(row))
  })
  if (inserts.length > 0) await database.batch(inserts)
}
