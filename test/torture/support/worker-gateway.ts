/** Starts the gateway inside workerd with `wrangler dev`, as a group of processes that can be killed. */
import { execFile, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pause } from './pause.ts'

export interface WorkerGateway {
  readonly url: string
  /** Kills workerd and wrangler at once. */
  readonly kill: () => Promise<void>
}

const ROOT = new URL('../../..', import.meta.url).pathname
const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
const ENVIRONMENT = {
  ...process.env,
  CI: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_SEND_METRICS: 'false',
}

/** Creates the tables of a local D1 database, and returns the path of its SQLite file. */
export async function createLocalD1(folder: string): Promise<string> {
  const command = ['d1', 'migrations', 'apply', 'backstory', '--local', '--persist-to', folder]
  await promisify(execFile)(process.execPath, [WRANGLER, ...command], {
    cwd: ROOT,
    env: ENVIRONMENT,
  })
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const file = found.find((path) => /d1[^]*[\da-f]{64}\.sqlite$/.test(path))
  if (file === undefined) throw new Error(`There is no D1 database in ${found.join()}`)
  return join(folder, file)
}

/** `folder`: that of `createLocalD1`, where D1 survives the process. */
export async function startWorkerGateway(
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<WorkerGateway> {
  const port = await findFreePort()
  const settings = Object.entries(variables).flatMap(([name, value]) => [
    '--var',
    `${name}:${value}`,
  ])
  const child = spawn(
    process.execPath,
    [
      WRANGLER,
      'dev',
      '--local',
      '--ip',
      '127.0.0.1',
      '--port',
      String(port),
      '--persist-to',
      folder,
      ...settings,
    ],
    { cwd: ROOT, env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  )
  let output = ''
  child.stdout.on('data', (bytes: Buffer) => (output += String(bytes)))
  child.stderr.on('data', (bytes: Buffer) => (output += String(bytes)))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // The negative id is that of the group, to which workerd belongs.
  const killGroup = (): void =>
    void (child.exitCode === null && process.kill(-(child.pid ?? 0), 'SIGKILL'))
  process.once('exit', killGroup)
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5000) }).catch(
      () => null,
    )
    if (answer?.status === 200) break
    if (tries > 300 || child.exitCode !== null) throw new Error(`workerd does not start: ${output}`)
    await pause(100)
  }
  return {
    url,
    async kill() {
      killGroup()
      await exited
      process.off('exit', killGroup)
    },
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listener.address() as AddressInfo
      listener.close(() => resolve(port))
    })
  })
}
