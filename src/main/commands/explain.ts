/**
 * `explain` as a command: what would be sent for a request, or was sent for an answer that is kept, by
 * the settings and the database of the gateway. No upstream is asked.
 */
import type { Caller } from '../../core/client/caller.ts'
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
  'environment' | 'configFile' | 'read' | 'print' | 'complain'
> {
  /** All that is written to the command. */
  readonly input: () => Promise<string>
}

/** Resolves to the code to exit with: 1 for what cannot be explained. */
export async function runExplainCommand(
  words: readonly string[],
  terminal: ExplainEnvironment,
): Promise<0 | 1> {
  const asked = parseExplainArguments(words)
  if (asked === null) {
    terminal.print(`${EXPLAIN_USAGE}\n`)
    return 0
  }
  try {
    if (typeof asked === 'string') throw new Error(asked)
    const text = await explained(asked, terminal)
    terminal.print(asked.format === 'json' ? `${text}\n` : text)
    return 0
  } catch (fault) {
    terminal.complain(fault instanceof Error ? fault.message : String(fault))
    return 1
  }
}

async function explained(asked: ExplainArguments, terminal: ExplainEnvironment): Promise<string> {
  // Before a database is opened for it.
  const body = 'request' in asked.of ? await bodyAt(asked.of.request, terminal) : null
  const { environment, configFile, complain } = terminal
  const { dependencies, close } = await createNodeDependencies(
    environment,
    configFile(),
    warnings(complain),
  )
  try {
    const answer = await answered(asked, body, dependencies)
    return await answer.text()
  } finally {
    await close()
  }
}

function answered(
  { of, format, round, key, user }: ExplainArguments,
  body: JsonObject | null,
  world: GatewayDependencies,
): Promise<Response> {
  const caller: Caller = { tenant: tenantOf(key, world.settings), user }
  const query = new URLSearchParams({ format, ...(round === null ? {} : { round }) })
  const request = { url: `http://localhost/?${query}`, headers: new Headers() }
  return 'answer' in of
    ? explainAnswer(request, of.answer, caller, world)
    : explainRequest(request, body ?? {}, caller, world)
}

async function bodyAt(path: string, { read, input }: ExplainEnvironment): Promise<JsonObject> {
  const what = path === '-' ? 'The input' : path
  let text: string
  try {
    text = path === '-' ? await input() : read(path)
  } catch {
    throw new Error(`${what} cannot be read, and is no id of an answer.`)
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new Error(`${what} is not JSON: ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    })
  }
  if (isObject(body)) return body
  throw new Error(`${what} is not a request: it must be a JSON object, as either API takes it.`)
}

function tenantOf(key: string | null, { BACKSTORY_KEYS: keys }: Settings): string {
  const tenant = key ?? findOnlyTenant(keys)
  const names = listTenants(keys)
  const there = names.join(', ')
  if (tenant === null) throw new Error(`There are several keys (${there}); --key says whose it is.`)
  if (names.includes(tenant)) return tenant
  throw new Error(`There is no key "${tenant}". There is: ${there}.`)
}

/** Who asks wants an answer; of the rest only what went wrong. */
function warnings(complain: (line: string) => void): Log {
  const log = createJsonLog(complain, Date.now)
  return (level, event, fields) => {
    if (level !== 'info') log(level, event, fields)
  }
}
