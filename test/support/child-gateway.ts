/** Starts the gateway as a child process, which can be killed. */
import { spawn } from 'node:child_process'

export interface ChildGateway {
  readonly url: string
  /** Resolves when the process has ended. */
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>
  /** Stops reading the log, as if the program that reads it had ended. */
  readonly closeLog: () => void
  /** Sends a signal, and does not wait. */
  readonly signal: (signal: NodeJS.Signals) => void
}

export async function startChild(
  environment: Readonly<Record<string, string>>,
): Promise<ChildGateway> {
  const child = spawn(process.execPath, ['src/main/start.js'], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { ...process.env, PORT: '0', MEDIA_FETCH: 'off', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
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
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void exited.then(() => reject(new Error(out)))
  })
  return {
    url,
    closeLog() {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    signal: (signal) => void child.kill(signal),
    async kill(signal) {
      child.kill(signal)
      await exited
    },
  }
}
