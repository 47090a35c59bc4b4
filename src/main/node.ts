/**
 * The entry point on Node. Without a command, it starts the gateway and stops it on a signal.
 * Commands: `reseal` (re-encrypts the database), `simulate` (compares policies), `explain`
 * (explains a request), `rehearse` (warms up the compile cache); `--help` and `--version` print a text.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createJsonLog } from './json-log.ts'
import type { Log } from '../core/ports/log-interface.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import { parseJsonWithComments } from '../core/json/json-with-comments.ts'
import { describeVersion, HELP, isHelpRequest, isVersionRequest } from './commands/help.ts'
import { reEncryptDatabase } from './commands/re-encrypt-database.ts'
import { serveNode, type RunningServer } from './serve-node.ts'
import { listTenants } from '../settings/list-tenants.ts'
import { SETTINGS_TABLE } from '../settings/settings-table.ts'

/**
 * Time after a signal in which further signals are ignored, because a terminal, a service manager
 * and a parent process may each send the same signal.
 */
const SAME_SIGNAL_MS = 1000

const commandEnvironment = {
  environment: process.env,
  readConfigFile,
  readFile: (path: string) => readFileSync(path, 'utf8'),
  print: (text: string) => void process.stdout.write(text),
  printError,
}

try {
  const [, , command, ...args] = process.argv
  if (command === undefined) await serve()
  else if (isHelpRequest(command)) console.log(HELP)
  else if (isVersionRequest(command)) console.log(describeVersion())
  else if (command === 'simulate') await simulate(args)
  else if (command === 'explain') await explain(args)
  else if (command !== 'reseal' && command !== 'rehearse')
    throw new Error(`There is no command "${command}".\n\n${HELP}`)
  else if (isHelpRequest(args[0])) console.log(HELP)
  else if (args[0] !== undefined)
    throw new Error(`The command \`${command}\` takes no arguments, not "${args[0]}".`)
  else if (command === 'reseal') await reEncryptDatabase(process.env, readConfigFile(), printError)
  else await (await import('./commands/warm-up-compile-cache.ts')).warmUpCompileCache()
} catch (error) {
  console.error(errorMessage(error))
  process.exitCode = 1
}

async function serve(): Promise<void> {
  const log = createJsonLog(printError, Date.now)
  // If the program that reads the log has ended, every line fails. Without these listeners, the handler below would
  // log the failure, which would fail again, without end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  // Unhandled errors are only logged: an error of one request, or in an event handler of one socket,
  // must not end the process with all other requests.
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (cause: unknown) => void convertUnexpectedError(cause, log))
  }
  const server = await serveNode(process.env, readConfigFile(), log)
  const startShutdown = shutDownOnSignal(server.close)
  ignoreOtherSignals(log)
  shutDownWhenOrphaned(startShutdown)
  // Prints these lines last, because a parent process may send a signal as soon as it reads them.
  printStartupLines(server)
}

// The commands `explain` and `simulate` import their code on demand, so that a gateway that only
// serves requests does not load it.

async function explain(args: readonly string[]): Promise<void> {
  const { runExplainCommand } = await import('./commands/explain.ts')
  const { text } = await import('node:stream/consumers')
  process.exitCode = await runExplainCommand(args, {
    ...commandEnvironment,
    readInput: () => text(process.stdin),
  })
}

async function simulate(args: readonly string[]): Promise<void> {
  const { runSimulateCommand } = await import('./commands/simulate.ts')
  const { stdout, stderr } = process
  process.exitCode = await runSimulateCommand(args, {
    ...commandEnvironment,
    writeFile: (path, text) => writeFileSync(path, text),
    // The escape sequence clears the rest of the previous line.
    printProgress: stderr.isTTY ? (line) => void stderr.write(`\r${line}\u001B[K`) : null,
    // Some terminals report a width of 0.
    columns: stdout.columns > 0 ? stdout.columns : 80,
  })
}

function printError(line: string): void {
  process.stderr.write(`${line}\n`)
}

/**
 * Reads the configuration file. Returns `{}` if the default file does not exist; a file named by
 * BACKSTORY_CONFIG must exist.
 */
function readConfigFile(): unknown {
  const configuredPath = process.env['BACKSTORY_CONFIG']
  const path = configuredPath ?? SETTINGS_TABLE.BACKSTORY_CONFIG.default
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    if (configuredPath === undefined) return {}
    throw new Error(
      `BACKSTORY_CONFIG names ${path}, which cannot be read. Create it, or unset BACKSTORY_CONFIG.`,
    )
  }
  try {
    return parseJsonWithComments(text)
  } catch (cause) {
    throw new Error(`${path} is not JSON: ${errorMessage(cause)}`, { cause })
  }
}

function printStartupLines({ url, dependencies: { accounts, settings } }: RunningServer): void {
  // User name and password are removed from the URL before it is printed.
  const database = settings.DATABASE_URL.replace(/\/\/[^@/]*@/, '//…@')
  const model = accounts.flatMap((account) => account.models).find((name) => !name.includes('*'))
  const key = settings.BACKSTORY_KEYS.length > 0 ? ` -H 'authorization: Bearer YOUR_KEY'` : ''
  const names =
    settings.BACKSTORY_KEYS.length > 0 ? listTenants(settings.BACKSTORY_KEYS).join(', ') : ''
  // An address of this machine replaces 0.0.0.0 and [::], to which no client can connect.
  const localUrl = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  console.log(`listening on ${url}`)
  console.log(`  upstreams  ${accounts.map(({ name, wire }) => `${name} (${wire})`).join(', ')}`)
  const [storageKey] = settings.STORAGE_KEYS
  const encryption = storageKey === undefined ? '' : `, encrypted with "${storageKey.kid}"`
  console.log(`  database   ${database}${encryption}`)
  console.log(`  keys       ${names || 'none, so only this machine is served'}`)
  if (settings.ACCOUNT_PATHS !== 'auto' && settings.ACCOUNT_PATHS.length > 0) {
    const opened = settings.ACCOUNT_PATHS.join(', ')
    console.log(
      `  warning    ${opened} can use files, batches and administration of the upstreams' accounts (ACCOUNT_PATHS)`,
    )
  }
  const advice = model === undefined ? `, with a model that ${localUrl}/v1/models lists` : ''
  console.log(`Try it${advice}:`)
  console.log(
    `  curl ${localUrl}/v1/responses -H 'content-type: application/json'${key} -d '{"model":"${model ?? 'MODEL'}","input":"Hello!"}'`,
  )
}

/**
 * Shuts the gateway down on a signal. A later signal ends the process immediately. Returns the
 * function that starts the shutdown; further calls have no effect.
 */
function shutDownOnSignal(close: () => Promise<void>): () => void {
  let startedAtMs: number | null = null
  const start = (): void => {
    if (startedAtMs !== null) return
    startedAtMs = performance.now()
    void close().then(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const isLater = startedAtMs !== null && performance.now() - startedAtMs > SAME_SIGNAL_MS
      if (isLater) process.exit(1)
      start()
    })
  }
  return start
}

/**
 * Ignores signals that end a Node process by default, and with it all open answers, although their
 * sender may mean something else: e.g. a closed terminal, or a request to reload the settings.
 */
function ignoreOtherSignals(log: Log): void {
  for (const signal of ['SIGHUP', 'SIGUSR2', 'SIGALRM'] as const) {
    process.on(signal, () => log('warn', 'signal-ignored', { signal }))
  }
}

/**
 * Shuts the gateway down when its parent process has ended, in two cases. `npm start` runs a shell
 * between npm and this process: on a signal, the shell ends without passing the signal on. On a
 * Node older than 24, `start.js` runs this process as a child, and may be killed.
 */
function shutDownWhenOrphaned(startShutdown: () => void): void {
  const { npm_lifecycle_event: npmScript, BACKSTORY_STARTED_BY: starterPid } = process.env
  if (npmScript === undefined && starterPid === undefined) return
  const parentPid = starterPid === undefined ? process.ppid : Number(starterPid)
  const timer = setInterval(() => {
    if (process.ppid === parentPid) return
    clearInterval(timer)
    startShutdown()
  }, 500)
  timer.unref()
}
