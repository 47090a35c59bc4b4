/**
 * Starts the processes of the benchmark, and ends each by its id when the run ends, fails or is interrupted.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'

export interface Child {
  readonly pid: number
  readonly process: ChildProcess
  /** Returns its standard error as one line, for error messages. */
  readonly errorOutput: () => string
}

export interface Command {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Opens a channel for messages. The benchmark's own scripts also end when it closes. */
  readonly ipc?: boolean
}

/** Runs `node` with these arguments, without the environment of the surrounding shell. */
export function startNode({ args, cwd, env = {}, ipc = false }: Command): Child {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
  })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-1500)
  })
  child.stdout?.setEncoding('utf8').resume()
  if (child.pid === undefined) throw new Error(`cannot start ${args.join(' ')}`)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return { pid: child.pid, process: child, errorOutput: () => summarizeErrors(errors) }
}

/** Resolves to the port in the line `listening on http://…` of a child. */
export function listeningPort(child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = ''
    const timer = setTimeout(() => reject(new Error('not listening after 15 s')), 15_000)
    child.process.stdout?.on('data', (text: string) => {
      if (said === '') said = text
      else if (said.length < 10_000) said += text
      const port = /listening on http:\/\/[^\s/]*:(\d+)/.exec(said)?.[1]
      if (port === undefined) return
      clearTimeout(timer)
      resolve(Number(port))
    })
    child.process.once('exit', () => {
      clearTimeout(timer)
      reject(new Error(child.errorOutput() || 'ended at once'))
    })
  })
}

/** Waits for programs that do not print such a line. */
export async function untilPortAnswers(child: Child, port: number): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    if (child.process.exitCode !== null) throw new Error(child.errorOutput() || 'ended at once')
    if (await accepts(port)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('not listening after 15 s')
}

export async function stopAll(): Promise<void> {
  const ended = [...running].map((child) => once(child, 'exit'))
  for (const child of running) child.kill('SIGTERM')
  const impatience = setTimeout(killAll, 2000)
  await Promise.all(ended)
  clearTimeout(impatience)
}

function summarizeErrors(errors: string): string {
  const lines = errors.trim().split('\n')
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? ''
}

const running = new Set<ChildProcess>()

function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

// Ends all children, however this process ends.
process.on('exit', killAll)

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
