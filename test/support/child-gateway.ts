/** Starts the gateway as a child process, which can be killed. */
import { spawn } from 'node:child_process'

export interface ChildGateway {
  readonly url: string
  readonly pid: number
  /** Resolves when the process has ended. */
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>
  /** Stops reading the log, as if the program that reads it had ended. */
  readonly closeLog: () => void
  /** Sends a signal, and does not wait. */
  readonly signal: (signal: NodeJS.Signals) => void
  readonly isAlive: () => boolean
  /** Everything that the process has printed, with its log. */
  readonly output: () => string
  /** Sends a message to the preloaded modules, and resolves to the next one from them; null if the process ends. */
  readonly request: (message: object) => Promise<unknown>
}

/** `preload`: modules that the process loads before the gateway. */
export async function startChild(
  environment: Readonly<Record<string, string>>,
  preload: readonly URL[] = [],
): Promise<ChildGateway> {
  const imports = preload.map(({ href }) => `--import=${href}`)
  const child = spawn(process.execPath, [...imports, 'src/main/start.js'], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { ...process.env, PORT: '0', MEDIA_FETCH: 'off', ...environment },
    stdio: ['ignore', 'pipe', 'pipe', ...(preload.length > 0 ? (['ipc'] as const) : [])],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  void exited.then(() => process.off('exit', end))
  let out = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (bytes: Buffer): void => {
      out += String(bytes)
      const found = /listening on (http:\S+)/.exec(out)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    void exited.then(() => reject(new Error(out)))
  })
  return {
    url,
    pid: child.pid as number,
    closeLog() {
      child.stdout?.destroy()
      child.stderr?.destroy()
    },
    signal: (signal) => void child.kill(signal),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    output: () => out,
    request: (message) =>
      new Promise((resolve) => {
        child.once('message', resolve)
        void exited.then(() => resolve(null))
        child.send(message, () => undefined)
      }),
    async kill(signal) {
      child.kill(signal)
      await exited
    },
  }
}
