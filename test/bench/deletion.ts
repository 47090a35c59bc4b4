/**
 * Deletes all data of a user while another user's turns are written, on SQLite and on Postgres:
 *
 *   npm run bench -- deletion          a user with 100,000 turns: some seconds to fill, 3 GB of disk
 *   npm run bench -- deletion 10000    fewer turns
 *
 * The rows of the user lie between those of others, who have as many turns. The table shows how long the deletion takes,
 * and how long writes of others take before and during it.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStores, type Stores } from '../../src/store/create-stores.ts'
import { openEngine } from '../../src/store/database/open-engine.ts'
import { createDatabaseOn } from '../support/postgres-setup.ts'
import { assistant, createEnding, newTurn, nextTurn, numberItems, user } from '../store/turns.ts'
import { TENANT } from './scale-chats.ts'
import { fillWithClones, printProgress, renderTable, startPostgres } from './scale.ts'
import { percentile } from './statistics.ts'

const LEAVING_USER = 'leaving'
const OTHER_USER = 'other'
const CHAT_TURNS = 20
/** How long writes are measured before the deletion. */
const BEFORE_MS = 3_000

export async function benchDeletion(turns: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-deletion-'))
  const rows: (readonly string[])[] = []
  try {
    const file = join(folder, 'filled.db')
    rows.push(['SQLite', ...(await measureDeletion(`sqlite:${file}`, turns, `${file}-wal`))])
    const server = await startPostgres()
    if (server !== null) {
      const { url } = await createDatabaseOn(server.url)
      rows.push(['Postgres', ...(await measureDeletion(url, turns, null))])
      await server.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const head = ['database', 'turns', 'deleted in', 'writes before', 'during', 'log at most']
  console.log(`\nwrites: median / 99th percentile / maximum, ms\n\n${renderTable(head, rows)}`)
}

/** Returns the cells of the table. `logFile` is the write-ahead log of SQLite. */
async function measureDeletion(
  url: string,
  turns: number,
  logFile: string | null,
): Promise<readonly string[]> {
  const engine = await openEngine(url)
  const stores = createStores(engine)
  await recordChat(stores)
  // Half of the clones belong to other tenants.
  await fillWithClones(engine, turns * 2, url.replace(/:.*/s, ''))
  const writer = startWriter(stores, logFile)
  await new Promise((resolve) => void setTimeout(resolve, BEFORE_MS))
  const before = writer.takeTimes()
  const startedAt = performance.now()
  printProgress('deleting')
  const deleted = await stores.deletion.deleteUser(TENANT, LEAVING_USER, Date.now())
  const seconds = (performance.now() - startedAt) / 1000
  const during = writer.takeTimes()
  const logBytes = await writer.stop()
  await engine.close()
  return [
    deleted.toLocaleString('en'),
    `${seconds.toFixed(1)} s`,
    renderTimes(before),
    renderTimes(during),
    logFile === null ? '' : `${Math.round(logBytes / 1e6)} MB`,
  ]
}

/** Stores a chat of the user, whose turns are cloned later. */
async function recordChat({ store }: Stores): Promise<void> {
  const fields = { tenant: TENANT, user: LEAVING_USER, request: { instructions: 'a'.repeat(500) } }
  let turn = newTurn({ ...fields, input: [user('b'.repeat(1_200))] })
  for (let number = 0; number < CHAT_TURNS; number += 1) {
    await store.openTurn(turn)
    const items = numberItems([assistant('c'.repeat(1_800)), assistant('d'.repeat(1_200))])
    await store.closeTurn(createEnding(turn, { items }))
    turn = nextTurn(turn, { ...fields, input: [user('b'.repeat(1_200))], depth: number + 1 })
  }
}

/** Stores short turns of another user, one after the other, until it is stopped. */
function startWriter({ store }: Pick<Stores, 'store'>, logFile: string | null) {
  let times: number[] = []
  let logBytes = 0
  const stopping = new AbortController()
  const measure = async (write: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now()
    await write()
    times.push(performance.now() - startedAt)
    if (logFile !== null) logBytes = Math.max(logBytes, statSync(logFile).size)
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const input = [user('Hello!')]
      const turn = newTurn({ tenant: TENANT, user: OTHER_USER, createdAtMs: Date.now(), input })
      const items = numberItems([assistant('Hello.')])
      await measure(() => store.openTurn(turn))
      await measure(() => store.closeTurn(createEnding(turn, { items })))
      await new Promise((resolve) => void setTimeout(resolve, 5))
    }
  }
  const stopped = run()
  return {
    takeTimes(): readonly number[] {
      const taken = times
      times = []
      return taken
    },
    async stop(): Promise<number> {
      stopping.abort()
      await stopped
      return logBytes
    },
  }
}

function renderTimes(times: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => (percentile(times, share) ?? 0).toFixed(1)).join(' / ')
}
