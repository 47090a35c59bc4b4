/**
 * Compares look-ups in a large database with those in an empty one, on SQLite and on Postgres:
 *
 *   npm run bench -- scale            a million turns: some minutes and 12 GB of disk for each database
 *   npm run bench -- scale 100000     fewer turns
 *
 * Chats are recorded through the gateway and cloned in SQL. Then new processes look up the recorded chats, in
 * both databases by turns: first chats that are in no cache of the process (cold), then the same again (warm).
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { openEngine } from '../../src/store/database/open-engine.ts'
import { createDatabaseOn, startPostgresServer } from '../support/postgres-setup.ts'
import { listeningPort, startNode, stopAll } from './children.ts'
import { addClones, dropOriginals, keepOriginals } from './scale-clones.ts'
import {
  CONVERSATION_PAGES,
  LOOK_UPS,
  checkRecalls,
  recordChat,
  recordConversation,
  TENANT,
  type Gateway,
  type RecordedChat,
} from './scale-chats.ts'
import { percentile } from './statistics.ts'

const CHATS = 120
const WARM_ROUNDS = 2
const LONG_TURNS = 5_000
const SHORT_TURNS = 40
const GATEWAY = fileURLToPath(new URL('../../src/main/start.js', import.meta.url))

export async function benchScale(turns: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-scale-'))
  try {
    await benchDatabase(
      'SQLite',
      turns,
      folder,
      async (name) => `sqlite:${join(folder, `${name}.db`)}`,
    )
    const server = await startPostgres()
    if (server === null) return
    try {
      const createDatabase = async () => (await createDatabaseOn(server.url, 'empty')).url
      await benchDatabase('Postgres', turns, folder, createDatabase)
    } finally {
      await stopAll()
      await server.close()
    }
  } finally {
    await stopAll()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Resolves to null if Postgres is not installed. */
export async function startPostgres() {
  try {
    return await startPostgresServer(['-c', 'max_wal_size=8GB'])
  } catch (error) {
    console.log(`Postgres is missing: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
}

async function benchDatabase(
  title: string,
  turns: number,
  folder: string,
  createDatabase: (name: string) => Promise<string>,
): Promise<void> {
  const open = async (name: string) => {
    const url = await createDatabase(name)
    printProgress(`${title}: recording chats in the ${name} database`)
    const gateway = await startGateway(url, folder)
    const chats: RecordedChat[] = []
    for (let at = 0; at < CHATS; at += 1) chats.push(await recordChat(gateway, at))
    return { url, chats }
  }
  const [empty, filled] = [await open('empty'), await open('filled')]
  await stopAll()
  const engine = await openEngine(filled.url)
  const count = await fillWithClones(engine, turns, title)
  await engine.close()
  const gateways = [
    await startGateway(empty.url, folder),
    await startGateway(filled.url, folder),
  ] as const
  printProgress(`${title}: looking up`)
  const rows = await measureLookUps(gateways, [empty.chats, filled.chats])
  for (const [side, { chats }] of [empty, filled].entries())
    for (const chat of chats) await checkRecalls(gateways[side === 0 ? 0 : 1], chat)
  console.log(`\n${title}, ${count.toLocaleString('en')} turns (median / 95th percentile, ms)\n`)
  console.log(
    renderTable(
      ['look-up', 'empty, cold', 'filled, cold', 'p95 ×', 'empty, warm', 'filled, warm', 'p95 ×'],
      rows,
    ),
  )
  printProgress(`${title}: a long conversation`)
  console.log(`\n${title}, items of a conversation (median / 95th percentile, ms)\n`)
  const pages = await measurePages(gateways[1])
  console.log(renderTable(['page', `${SHORT_TURNS} turns`, `${LONG_TURNS} turns`, 'p95 ×'], pages))
  await stopAll()
}

async function startGateway(databaseUrl: string, folder: string): Promise<Gateway> {
  const cwd = mkdtempSync(join(folder, 'gateway-'))
  mkdirSync(cwd, { recursive: true })
  const account = { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } }
  const env = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    BACKSTORY_KEYS: `${TENANT}:sk-bench`,
    UPSTREAMS: JSON.stringify([account]),
    MARKERS: 'always',
  }
  return { port: await listeningPort(startNode({ args: [GATEWAY], cwd, env })) }
}

export async function fillWithClones(
  engine: Engine,
  turns: number,
  title: string,
): Promise<number> {
  const startedAt = performance.now()
  let saidAt = startedAt
  await keepOriginals(engine)
  const count = await addClones(engine, turns, (added) => {
    if (performance.now() - saidAt < 10_000) return
    saidAt = performance.now()
    printProgress(`${title}: ${added.toLocaleString('en')} turns`)
  })
  await dropOriginals(engine)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  printProgress(`${title}: ${count.toLocaleString('en')} turns in ${seconds} s`)
  return count
}

type Pair<Value> = readonly [empty: Value, filled: Value]

async function measureLookUps(
  gateways: Pair<Gateway>,
  chats: Pair<readonly RecordedChat[]>,
): Promise<readonly (readonly string[])[]> {
  const rows: string[][] = []
  for (const [name, lookUp] of Object.entries(LOOK_UPS)) {
    const times = { cold: [[], []] as Pair<number[]>, warm: [[], []] as Pair<number[]> }
    for (let round = 0; round <= WARM_ROUNDS; round += 1) {
      for (let at = 0; at < CHATS; at += 1) {
        // Which database is first changes, because the first request of a pair may find cold processor caches.
        for (const side of at % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          const chat = chats[side][at]
          if (chat === undefined) continue
          const tookMs = await measureMs(() => lookUp(gateways[side], chat, round))
          times[round === 0 ? 'cold' : 'warm'][side].push(tookMs)
        }
      }
    }
    rows.push([name, ...renderPair(times.cold), ...renderPair(times.warm)])
  }
  return rows
}

async function measurePages(gateway: Gateway): Promise<readonly (readonly string[])[]> {
  const short = await recordConversation(gateway, SHORT_TURNS)
  const long = await recordConversation(gateway, LONG_TURNS)
  const rows: string[][] = []
  for (const [name, readPage] of Object.entries(CONVERSATION_PAGES)) {
    const times: Pair<number[]> = [[], []]
    for (let round = 0; round < CHATS; round += 1) {
      times[0].push(await measureMs(() => readPage(gateway, short)))
      times[1].push(await measureMs(() => readPage(gateway, long)))
    }
    rows.push([name, ...renderPair(times)])
  }
  return rows
}

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function renderPair([empty, filled]: Pair<readonly number[]>): readonly string[] {
  const ratio = (percentile(filled, 0.95) ?? 0) / (percentile(empty, 0.95) ?? 1)
  return [renderTimes(empty), renderTimes(filled), ratio.toFixed(1)]
}

function renderTimes(times: readonly number[]): string {
  return [0.5, 0.95].map((share) => (percentile(times, share) ?? 0).toFixed(1)).join(' / ')
}

export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, at) => (at === 0 ? '---' : '--:'))
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export function printProgress(text: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(5)} s  ${text}\n`)
}
