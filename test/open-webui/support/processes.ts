/** Starts programs and ends them by their process id, with a limit for each wait. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'

export interface Program {
  readonly pid: number
  readonly isAlive: () => boolean
  /** Sends SIGTERM to the program and its children, and SIGKILL after ten seconds. */
  readonly end: () => Promise<void>
}

export interface ProgramOptions {
  readonly environment: Readonly<Record<string, string>>
  /** A file for everything that the program prints. */
  readonly log: string
}

export function startProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions,
): Program {
  const log = createWriteStream(options.log)
  // With a process group of its own, its children end with it.
  const child = spawn(command, args, {
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  child.stdout.pipe(log)
  child.stderr.pipe(log)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const killNow = (): void => signalGroup(child, 'SIGKILL')
  process.once('exit', killNow)
  void exited.then(() => process.off('exit', killNow))
  return {
    pid: child.pid ?? 0,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async end() {
      signalGroup(child, 'SIGTERM')
      const isDone = await Promise.race([exited.then(() => true), pause(10_000).then(() => false)])
      if (!isDone) signalGroup(child, 'SIGKILL')
    },
  }
}

/** Runs a program to its end, with its output on standard error; rejects if it fails. */
export async function runProgram(
  command: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', process.stderr, process.stderr] })
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  clearTimeout(timer)
  if (code !== 0) throw new Error(`\`${[command, ...args].join(' ')}\` ended with ${code}.`)
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group has ended already.
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Calls `attempt` until it returns something other than null. */
export async function waitFor<Value>(
  what: string,
  timeoutMs: number,
  attempt: () => Promise<Value | null>,
): Promise<Value> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await attempt()
    if (value !== null) return value
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs / 1000} s for ${what}.`)
    await pause(100)
  }
}

export async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}
