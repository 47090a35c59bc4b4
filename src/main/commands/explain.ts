/**
 * The command `explain`: explains an upstream request: the one that a request body in a file would
 * become, or the one that was sent for a stored answer. Uses the gateway's settings and database,
 * and sends nothing to an upstream.
 */
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { describeJsonFault } from '../../core/json/describe-json-fault.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import { turnIdOfAnswer } from '../../core/turn-derived-ids.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { explainAnswer } from '../../server/endpoints/explain-answer.ts'
import { explainRequest } from '../../server/endpoints/explain-request.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { findOnlyTenant, listTenants } from '../../settings/list-tenants.ts'
import { createNodeDependencies } from '../create-node-dependencies.ts'
import { createJsonLog } from '../json-log.ts'
import { addMissingKeys } from './add-missing-keys.ts'
import { parseCommandArguments } from './parse-command-arguments.ts'
import type { CommandEnvironment } from './simulate.ts'

export interface ExplainEnvironment extends Pick<
  CommandEnvironment,
  'environment' | 'readConfigFile' | 'readFile' | 'print' | 'printError'
> {
  /** Reads the complete standard input. */
  readonly readInput: () => Promise<string>
}

/** Runs the command. Resolves to the exit code, which is 1 for an error. */
export async function runExplainCommand(
  args: readonly string[],
  terminal: ExplainEnvironment,
): Promise<0 | 1> {
  try {
    const parsed = parseExplainArguments(args)
    if (parsed === null) {
      terminal.print(`${USAGE}\n`)
      return 0
    }
    const text = await createExplanation(parsed, terminal)
    terminal.print(parsed.format === 'json' ? `${text}\n` : text)
    return 0
  } catch (error) {
    terminal.printError(errorMessage(error))
    return 1
  }
}

interface ExplainArguments {
  /** The id of a stored answer, or the path of a file with a request body (`-`: standard input). */
  readonly subject: { readonly answerId: string } | { readonly bodyPath: string }
  readonly format: 'text' | 'json' | 'body'
  readonly round: string | null
  /** Name of an API key in `BACKSTORY_KEYS`. */
  readonly keyName: string | null
  readonly userId: string | null
}

/** Parses the arguments; returns null if only the usage is requested. */
function parseExplainArguments(args: readonly string[]): ExplainArguments | null {
  const { values, positionals } = parseCommandArguments(args, OPTIONS, USAGE, 1)
  const { help, json, body, round, key, user } = values
  if (help) return null
  const [name] = positionals
  if (name === undefined) throw new Error(`What is to be explained?\n${USAGE}`)
  if (json && body) throw new Error('--json and --body are two forms of the same.')
  const isAnswer = turnIdOfAnswer(name) !== null
  if (round !== undefined && !isAnswer) throw new Error('--round is for a stored answer.')
  return {
    subject: isAnswer ? { answerId: name } : { bodyPath: name },
    format: json ? 'json' : body ? 'body' : 'text',
    round: round ?? null,
    keyName: key ?? null,
    userId: user ?? null,
  }
}

const OPTIONS = {
  json: { type: 'boolean' },
  body: { type: 'boolean' },
  round: { type: 'string' },
  key: { type: 'string' },
  user: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

const USAGE = `Usage: npm start -- explain FILE|-|ID [options]
  FILE, -      a request body of either API, from a file or from standard input: explains what would be sent
  ID           a stored answer: explains what was sent. Its id, such as resp_…, the req_… of its headers or its marker
  --json       the complete explanation as JSON
  --body       only the body that is sent to the upstream
  --round N    which request of an answer that took several: from 0, or last
  --key NAME   the API key that the answer belongs to, if there are several
  --user ID    the user that it belongs to`

async function createExplanation(
  options: ExplainArguments,
  terminal: ExplainEnvironment,
): Promise<string> {
  const { subject } = options
  // Reads the file before the database is opened, so that a missing file is reported first.
  const body = 'bodyPath' in subject ? await readBody(subject.bodyPath, terminal) : null
  const log = createWarningLog(terminal.printError)
  const config = terminal.readConfigFile()
  const environment = addMissingKeys(terminal.environment, config)
  const { dependencies, close } = await createNodeDependencies(environment, config, log)
  try {
    return await (await explain(options, body, dependencies)).text()
  } finally {
    await close()
  }
}

function explain(
  { subject, format, round, keyName, userId }: ExplainArguments,
  body: JsonObject | null,
  ports: GatewayDependencies,
): Promise<Response> {
  const caller: Caller = { tenant: chooseTenant(keyName, ports.settings), user: userId }
  const query = new URLSearchParams({ format, ...(round === null ? {} : { round }) })
  const request = { url: `http://localhost/?${query}`, headers: new Headers() }
  return 'answerId' in subject
    ? explainAnswer(request, subject.answerId, caller, ports)
    : explainRequest(request, body ?? {}, caller, ports)
}

async function readBody(
  path: string,
  { readFile, readInput }: ExplainEnvironment,
): Promise<JsonObject> {
  const source = path === '-' ? 'The input' : path
  let text: string
  try {
    text = path === '-' ? await readInput() : readFile(path)
  } catch {
    throw new Error(`${source} cannot be read, and is not the id of an answer.`)
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new Error(`${source} is not JSON: ${describeJsonFault(text)}.`, { cause })
  }
  if (isObject(body)) return body
  throw new Error(`${source} is not a request: it must be a JSON object, as either API takes it.`)
}

function chooseTenant(key: string | null, { BACKSTORY_KEYS: keys }: Settings): string {
  const tenant = key ?? findOnlyTenant(keys)
  const names = listTenants(keys)
  const list = names.join(', ')
  if (tenant === null)
    throw new Error(
      `There are several API keys (${list}). Name the one that owns the answer with --key.`,
    )
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
