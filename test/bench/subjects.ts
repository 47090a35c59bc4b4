/** Who is measured: each in a process of its own, all in front of the same mock upstream. */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }
import { listeningPort, startNode } from './children.ts'
import type { Child, Command } from './children.ts'
import type { Target } from './job.ts'
import { fetchPortkey, PORTKEY, startPortkey } from './portkey.ts'
import type { Traffic } from './traffic.ts'

export const SUBJECT_NAMES = [
  'direct',
  'floor',
  'pass-through',
  'everything',
  'memory-off',
  'translated',
  'portkey',
] as const
export type SubjectName = (typeof SUBJECT_NAMES)[number]

export interface Subject {
  readonly name: SubjectName
  /** `null` for the mock upstream itself, whose CPU says nothing about a proxy. */
  readonly child: Child | null
  readonly target: Target
  /** How a request to this subject differs from a plain chat completion. */
  readonly adapt: (traffic: Traffic) => Traffic
  /** Whether it gives a chat back what its client forgets. */
  readonly remembers?: boolean
}

export interface Cast {
  readonly upstream: Child
  readonly subjects: readonly Subject[]
  /** Who is not there, and why. */
  readonly missing: readonly { readonly name: SubjectName; readonly why: string }[]
}

export interface Staging {
  /** A folder for databases, removed after the run. */
  readonly folder: string
  readonly names: readonly SubjectName[]
  /** How long fetching the peer may take. */
  readonly fetchMs: number
  /** Put in front of Backstory's script: what a profiler needs. */
  readonly nodeArgs: readonly string[]
}

const SCRIPTS = {
  mock: fileURLToPath(new URL('./mock-upstream.ts', import.meta.url)),
  load: fileURLToPath(new URL('./load.ts', import.meta.url)),
  floor: fileURLToPath(new URL('./floor.js', import.meta.url)),
  backstory: fileURLToPath(new URL('../../src/main/start.js', import.meta.url)),
}

/** As `npm start` has them. */
const NODE_FLAGS = (packageJson.scripts.start.match(/--\S+/g) ?? []) as readonly string[]

export async function startSubjects(staging: Staging): Promise<Cast> {
  await rehearse(staging.folder)
  const mock = await startOurs(SCRIPTS.mock, [], staging.folder)
  const missing: { name: SubjectName; why: string }[] = []
  const started = await Promise.all(
    staging.names.map(async (name) => {
      try {
        return await startSubject(name, mock.port, staging)
      } catch (error) {
        missing.push({ name, why: error instanceof Error ? error.message : String(error) })
        return null
      }
    }),
  )
  return { upstream: mock.child, subjects: started.filter((one) => one !== null), missing }
}

/** As `npm start` does: or who is started first after a change has a compiler in its memory. */
async function rehearse(folder: string): Promise<void> {
  const child = startNode({ args: [...NODE_FLAGS, SCRIPTS.backstory, 'rehearse'], cwd: folder })
  await once(child.process, 'exit')
}

export function startLoad(folder: string): Child {
  return startNode({ args: [SCRIPTS.load], cwd: folder, ipc: true })
}

async function startSubject(
  name: SubjectName,
  upstream: number,
  staging: Staging,
): Promise<Subject> {
  const same = (traffic: Traffic): Traffic => traffic
  switch (name) {
    case 'direct':
      return { name, child: null, target: target(upstream), adapt: same }
    case 'floor': {
      const { child, port } = await startOurs(SCRIPTS.floor, [String(upstream)], staging.folder)
      return { name, child, target: target(port), adapt: same }
    }
    case 'pass-through':
      return {
        name,
        ...(await startBackstory(name, upstream, staging)),
        adapt: same,
        remembers: true,
      }
    case 'memory-off': {
      const off = { REMEMBER: 'off' }
      return { name, ...(await startBackstory(name, upstream, staging, off)), adapt: same }
    }
    case 'everything':
      return { name, ...(await startBackstory(name, upstream, staging)), adapt: stored }
    case 'translated':
      return { name, ...(await startBackstory(name, upstream, staging)), adapt: asResponses }
    case 'portkey': {
      const script = await fetchPortkey(staging.fetchMs)
      const { child, port } = await startPortkey(script, staging.folder)
      return { name, child, target: target(port, portkeyHeaders(upstream)), adapt: same }
    }
  }
}

const stored = (traffic: Traffic): Traffic => ({ ...traffic, store: true })
const asResponses = (traffic: Traffic): Traffic => ({ ...traffic, api: 'responses' })

/** In an empty folder, so that no configuration of the person who runs this is found. */
async function startBackstory(
  name: SubjectName,
  upstream: number,
  { folder, nodeArgs }: Staging,
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly child: Child; readonly target: Target }> {
  const cwd = join(folder, name)
  mkdirSync(cwd)
  const account = {
    name: 'mock',
    wire: 'chat',
    baseUrl: `http://127.0.0.1:${upstream}/v1`,
    apiKey: 'sk-up',
    models: ['*'],
  }
  const env = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: `sqlite:${join(cwd, 'bench.db')}`,
    BACKSTORY_KEYS: 'bench:sk-bench',
    UPSTREAMS: JSON.stringify([account]),
    ...more,
  }
  const { child, port } = await listening({
    args: [...NODE_FLAGS, ...nodeArgs, SCRIPTS.backstory],
    cwd,
    env,
  })
  return { child, target: target(port) }
}

async function startOurs(
  script: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly child: Child; readonly port: number }> {
  return listening({ args: [script, ...args], cwd, ipc: true })
}

async function listening(
  command: Command,
): Promise<{ readonly child: Child; readonly port: number }> {
  const child = startNode(command)
  return { child, port: await listeningPort(child) }
}

function target(port: number, more: Readonly<Record<string, string>> = {}): Target {
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    authorization: 'Bearer sk-bench',
    'user-agent': 'bench',
    ...more,
  }
  return { port, headers }
}

function portkeyHeaders(upstream: number): Readonly<Record<string, string>> {
  return {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstream}/v1`,
  }
}

export function titleOf(name: SubjectName): string {
  return {
    direct: 'direct',
    floor: 'floor',
    'pass-through': 'Backstory, pass-through',
    everything: 'Backstory, everything on',
    'memory-off': 'Backstory, `REMEMBER=off`',
    translated: 'Backstory, Responses over Chat',
    portkey: `Portkey (${PORTKEY})`,
  }[name]
}
