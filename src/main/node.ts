/**
 * The gateway on Node, as a program: settings in, a few friendly lines out, and an orderly end. With
 * `reseal` behind its name it seals what is stored with the newest key instead, and ends; with
 * `simulate` it tells what each policy would cost, with `explain` what is sent, and why, and with
 * `rehearse` it has itself compiled.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createJsonLog } from './json-log.ts'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import { reEncryptDatabase } from './commands/re-encrypt-database.ts'
import { serveNode, type RunningServer } from './serve-node.ts'
import { SETTINGS_TABLE } from '../settings/settings-table.ts'

try {
  const [, , command] = process.argv
  if (command === undefined) await serve()
  else if (command === 'reseal') await reEncryptDatabase(process.env, configFile(), toStderr)
  else if (command === 'simulate') await simulate(process.argv.slice(3))
  else if (command === 'explain') await explain(process.argv.slice(3))
  else if (command === 'rehearse') await rehearse()
  else throw new Error(`There is no command "${command}"; without one the gateway starts.`)
} catch (fault) {
  console.error(fault instanceof Error ? fault.message : fault)
  process.exitCode = 1
}

async function serve(): Promise<void> {
  const log = createJsonLog(toStderr, Date.now)
  // What one request has lost sight of is no reason to cut off all others.
  process.on('unhandledRejection', (cause) => void convertUnexpectedError(cause, log))
  const serving = await serveNode(process.env, configFile(), log)
  const stop = stopping(serving.close)
  onSignal(stop)
  onOrphaned(stop.begin)
  // Last, for who reads that it serves may end it.
  greet(serving)
}

// The commands are loaded only where they are asked for: who serves has no use for them.

async function explain(words: readonly string[]): Promise<void> {
  const { runExplainCommand: explainCommand } = await import('./commands/explain.ts')
  const { text } = await import('node:stream/consumers')
  process.exitCode = await explainCommand(words, {
    ...terminal(),
    input: () => text(process.stdin),
  })
}

async function rehearse(): Promise<void> {
  await (await import('./commands/warm-up.ts')).warmUp()
}

async function simulate(words: readonly string[]): Promise<void> {
  const { runSimulateCommand: simulateCommand } = await import('./commands/simulate.ts')
  const { stdout, stderr } = process
  process.exitCode = await simulateCommand(words, {
    ...terminal(),
    write: (path, text) => writeFileSync(path, text),
    // Over the line before, which is wiped out to its end.
    progress: stderr.isTTY ? (line) => void stderr.write(`\r${line}\u001B[K`) : null,
    // Some terminals do not know how wide they are, and say 0.
    columns: stdout.columns > 0 ? stdout.columns : 80,
  })
}

/** What every command is given. */
function terminal() {
  return {
    environment: process.env,
    configFile,
    read: (path: string) => readFileSync(path, 'utf8'),
    print: (text: string) => void process.stdout.write(text),
    complain: toStderr,
  }
}

function toStderr(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** The file must exist if it was asked for by name. */
function configFile(): unknown {
  const named = process.env['BACKSTORY_CONFIG']
  const path = named ?? SETTINGS_TABLE.BACKSTORY_CONFIG.default
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    if (named === undefined) return {}
    throw new Error(`BACKSTORY_CONFIG names ${path}, which cannot be read.`)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${path} is not JSON: ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    })
  }
}

function greet({ url, dependencies: { accounts, settings } }: RunningServer): void {
  // A password in the address is nobody's business.
  const database = settings.DATABASE_URL.replace(/\/\/[^@/]*@/, '//…@')
  const model = accounts.flatMap((account) => account.models).find((name) => !name.includes('*'))
  const key = settings.BACKSTORY_KEYS.length > 0 ? ` -H 'authorization: Bearer YOUR_KEY'` : ''
  const names = settings.BACKSTORY_KEYS.map(({ name }) => name).join(', ')
  // All addresses at once is none that can be asked.
  const here = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  console.log(`listening on ${url}`)
  console.log(`  upstreams  ${accounts.map(({ name, wire }) => `${name} (${wire})`).join(', ')}`)
  const [seal] = settings.STORAGE_KEYS
  const sealed = seal === undefined ? '' : `, sealed with "${seal.kid}"`
  console.log(`  memory     ${database}${sealed}`)
  console.log(`  keys       ${names || 'none, so only this machine is served'}`)
  console.log(`Try it:`)
  console.log(
    `  curl ${here}/v1/responses -H 'content-type: application/json'${key} -d '{"model":"${model ?? 'YOUR_MODEL'}","input":"Hello!"}'`,
  )
}

function onSignal({ begin, isLate }: Stopping): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Asked again, it waits for nobody.
      if (isLate()) process.exit(1)
      begin()
    })
  }
}

interface Stopping {
  /** Once begun, it goes on. */
  readonly begin: () => void
  /** Whether whoever asks now has seen that it is stopping. */
  readonly isLate: () => boolean
}

function stopping(close: () => Promise<void>): Stopping {
  // A terminal, a service manager and whoever started this may all pass the same signal on.
  const sameMs = 1000
  let sinceMs: number | null = null
  return {
    begin() {
      if (sinceMs !== null) return
      sinceMs = performance.now()
      void close().then(() => process.exit(0))
    },
    isLate: () => sinceMs !== null && performance.now() - sinceMs > sameMs,
  }
}

/**
 * `npm start` puts a shell between itself and this process, which dies of a signal without passing
 * it on; and an older Node, which has started this one, may be killed. Whose parent is gone has been asked
 * to stop.
 */
function onOrphaned(stop: () => void): void {
  const { npm_lifecycle_event: byNpm, BACKSTORY_STARTED_BY: byNode } = process.env
  if (byNpm === undefined && byNode === undefined) return
  const parent = byNode === undefined ? process.ppid : Number(byNode)
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    stop()
  }, 500)
  watch.unref()
}
