/**
 * Measures the cost of the event log of a stream: the gateway's CPU time for 1,000 chunks, all threads
 * included, of a stored response with and without the log. The mock sends at a steady pace, as models do.
 *
 *   node test/bench/event-log.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listeningPort, startNode, stopAll } from './children.ts'
import { cpuMs } from './machine.ts'
import { median } from './statistics.ts'
import { requestBody } from './traffic.ts'

const ROUNDS = 5
const SECONDS = 4
/** Chunks per second of each stream, and the number of concurrent streams. */
const PACES = [
  { perSecond: 50, streams: 100 },
  { perSecond: 200, streams: 25 },
] as const

const folder = mkdtempSync(join(tmpdir(), 'backstory-event-log-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

try {
  const gateway = await startGateway()
  console.log('| chunks a second | plain | with its log | more |\n|--:|--:|--:|--:|')
  for (const pace of PACES) {
    const plain: number[] = []
    const logged: number[] = []
    await measure(gateway, pace, true)
    await measure(gateway, pace, false)
    for (let round = 0; round < ROUNDS; round += 1) {
      plain.push(await measure(gateway, pace, false))
      logged.push(await measure(gateway, pace, true))
    }
    const [less, more] = [median(plain) ?? 0, median(logged) ?? 0]
    const percent = Math.round((more / less - 1) * 100)
    const streams = `${pace.streams} × ${pace.perSecond}`
    console.log(`| ${streams} | ${less.toFixed(1)} ms | ${more.toFixed(1)} ms | ${percent} % |`)
  }
} finally {
  await stopAll()
}

interface Gateway {
  readonly pid: number
  readonly port: number
}

async function startGateway(): Promise<Gateway> {
  const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
  const mock = startNode({ args: [path('./mock-upstream.ts')], cwd: folder, ipc: true })
  const account = {
    name: 'mock',
    wire: 'chat',
    baseUrl: `http://127.0.0.1:${await listeningPort(mock)}/v1`,
    apiKey: 'sk-up',
    models: ['*'],
  }
  const child = startNode({
    args: [path('../../src/main/start.js')],
    cwd: folder,
    env: {
      PORT: '0',
      DATABASE_URL: `sqlite:${join(folder, 'bench.db')}`,
      UPSTREAMS: JSON.stringify([account]),
    },
  })
  return { pid: child.pid, port: await listeningPort(child) }
}

/** Returns the CPU milliseconds for 1,000 chunks. */
async function measure(
  { pid, port }: Gateway,
  { perSecond, streams }: (typeof PACES)[number],
  isLogged: boolean,
): Promise<number> {
  const chunks = perSecond * SECONDS
  const answer = { kind: 'stream', chunks, perSecond, thinkMs: 0, thoughts: 0 } as const
  const body = requestBody({ api: 'responses', store: true, requestKb: 1, answer })
  const headers = {
    'content-type': 'application/json',
    ...(isLogged ? { 'x-backstory-resumable': 'true' } : {}),
  }
  const before = cpuMs(pid) ?? 0
  await Promise.all(
    Array.from({ length: streams }, async () => {
      const url = `http://127.0.0.1:${port}/v1/responses`
      const text = await (await fetch(url, { method: 'POST', headers, body })).text()
      if (!text.includes('response.completed')) throw new Error(text.slice(-300))
    }),
  )
  return ((cpuMs(pid) ?? 0) - before) / ((streams * chunks) / 1000)
}
