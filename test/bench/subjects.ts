/** Starts the measured subjects, each in a process of its own, all with the same mock upstream. */
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
  /** Null for the mock upstream itself, whose CPU time says nothing about a proxy. */
  readonly child: Child | null
  readonly target: Target
  /** Adapts a plain chat completion for this subject. */
  readonly adapt: (traffic: Traffic) => Traffic
  /** True if it recalls items that the client drops. */
  readonly remembers?: boolean
}

export interface StartedSubjects {
  readonly upstream: Child
  readonly subjects: readonly Subject[]
  /** Subjects that could not start, with the reason. */
  readonly missing: readonly { readonly name: SubjectName; readonly why: string }[]
}

export interface SubjectOptions {
  /** The folder for databases, which is removed after the run. */
  readonly folder: string
  readonly names: readonly SubjectName[]
  /** The time limit for installing the peer. */
  readonly fetchMs: number
  /** Arguments before Backstory's script, e.g. for the profiler. */
  readonly nodeArgs: readonly string[]
}

const SCRIPTS = {
  mock: fileURLToPath(new URL('./mock-upstream.ts', import.meta.url)),
  load: fileURLToPath(new URL('./load.ts', import.meta.url)),
  floor: fileURLToPath(new URL('./floor.js', import.meta.url)),
  backstory: fileURLToPath(new URL('../../src/main/start.js', import.meta.url)),
}

/** The Node flags of `npm start`. */
const NODE_FLAGS = (packageJson.scripts.start.match(/--\S+/g) ?? []) as readonly string[]

export async function startSubjects(staging: SubjectOptions): Promise<StartedSubjects> {
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

/**
 * Compiles the sources in advance, as `npm start` does; otherwise the first process would keep a compiler in
 * memory.
 */
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
  staging: SubjectOptions,
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

/** Runs in an empty folder, so that it finds no configuration file of the user. */
async function startBackstory(
  name: SubjectName,
  upstream: number,
  { folder, nodeArgs }: SubjectOptions,
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
