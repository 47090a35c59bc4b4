/**
 * The command `explain`: explains the upstream request for a request body in a file, or the
 * upstream request that was sent for a stored answer. Uses the gateway's settings and database, and
 * sends nothing to an upstream.
 */
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { explainAnswer } from '../../server/endpoints/explain-answer.ts'
import { explainRequest } from '../../server/endpoints/explain-request.ts'
import { parseExplainArguments, EXPLAIN_USAGE, type ExplainArguments } from './explain-arguments.ts'
import { createJsonLog } from '../json-log.ts'
import { createNodeDependencies } from '../create-node-dependencies.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { CommandEnvironment } from './simulate.ts'
import { findOnlyTenant, listTenants } from '../../settings/tenants.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'

export interface ExplainEnvironment extends Pick<
  CommandEnvironment,
  'environment' | 'configFile' | 'read' | 'print' | 'printError'
> {
  /** Reads the complete standard input. */
  readonly readInput: () => Promise<string>
}

/** Runs the command. Resolves to the exit code, which is 1 for an error. */
export async function runExplainCommand(
  args: readonly string[],
  terminal: ExplainEnvironment,
): Promise<0 | 1> {
  const parsed = parseExplainArguments(args)
  if (parsed === null) {
    terminal.print(`${EXPLAIN_USAGE}\n`)
    return 0
  }
  try {
    if (typeof parsed === 'string') throw new Error(parsed)
    const text = await createExplanation(parsed, terminal)
    terminal.print(parsed.format === 'json' ? `${text}\n` : text)
    return 0
  } catch (error) {
    terminal.printError(errorMessage(error))
    return 1
  }
}

async function createExplanation(
  options: ExplainArguments,
  terminal: ExplainEnvironment,
): Promise<string> {
  const { subject } = options
  // Reads the file first, so that no database is opened if the file is missing.
  const body = 'request' in subject ? await readBody(subject.request, terminal) : null
  const { environment, configFile, printError } = terminal
  const log = createWarningLog(printError)
  const { dependencies, close } = await createNodeDependencies(environment, configFile(), log)
  try {
    const response = await explain(options, body, dependencies)
    return await response.text()
  } finally {
    await close()
  }
}

function explain(
  { subject, format, round, key, user }: ExplainArguments,
  body: JsonObject | null,
  ports: GatewayDependencies,
): Promise<Response> {
  const caller: Caller = { tenant: chooseTenant(key, ports.settings), user }
  const query = new URLSearchParams({ format, ...(round === null ? {} : { round }) })
  const request = { url: `http://localhost/?${query}`, headers: new Headers() }
  return 'answer' in subject
    ? explainAnswer(request, subject.answer, caller, ports)
    : explainRequest(request, body ?? {}, caller, ports)
}

async function readBody(
  path: string,
  { read, readInput }: ExplainEnvironment,
): Promise<JsonObject> {
  const source = path === '-' ? 'The input' : path
  let text: string
  try {
    text = path === '-' ? await readInput() : read(path)
  } catch {
    throw new Error(`${source} cannot be read, and is not the id of an answer.`)
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new Error(`${source} is not JSON: ${errorMessage(cause)}`, {
      cause,
    })
  }
  if (isObject(body)) return body
  throw new Error(`${source} is not a request: it must be a JSON object, as either API takes it.`)
}

function chooseTenant(key: string | null, { BACKSTORY_KEYS: keys }: Settings): string {
  const tenant = key ?? findOnlyTenant(keys)
  const names = listTenants(keys)
  const list = names.join(', ')
  if (tenant === null) throw new Error(`There are several keys (${list}); --key says whose it is.`)
  if (names.includes(tenant)) return tenant
  throw new Error(`There is no key "${tenant}". There is: ${list}.`)
}

/** Creates a log that prints warnings and errors only. */
function createWarningLog(printError: (line: string) => void): Log {
  const log = createJsonLog(printError, Date.now)
  return (level, event, fields) => {
    if (level !== 'info') log(level, event, fields)
  }
}
