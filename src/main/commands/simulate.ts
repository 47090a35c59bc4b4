/**
 * The command `simulate`: builds the requests of conversations under each context policy, without
 * sending them, and reports the cost of each policy. Conversations are generated, or read from a
 * file or from the configured database.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import { excludeDeletedItems } from '../../gateway/history/exclude-deleted-items.ts'
import { readSettings } from '../../settings/read-settings.ts'
import { renderSvgChart } from '../../simulate/svg-chart.ts'
import { comparePolicies } from '../../simulate/compare-policies.ts'
import { convertResultsToNumbers } from '../../simulate/convert-results-to-numbers.ts'
import { generateConversation } from '../../simulate/generate-conversation.ts'
import {
  parseSimulateArguments,
  SIMULATE_USAGE,
  type ConversationSource,
  type SimulateArguments,
} from './simulate-arguments.ts'
import { readRecording, createScriptWithoutIdsAndOrigins } from '../../simulate/read-recording.ts'
import { renderTerminalReport } from '../../simulate/terminal-report.ts'
import type { ConversationScript } from '../../simulate/conversation-script.ts'
import { openEngine } from '../../store/database/open-engine.ts'
import { createStores } from '../../store/create-stores.ts'
import { findOnlyTenant, listTenants } from '../../settings/list-tenants.ts'
import { addMissingKeys } from './add-missing-keys.ts'
import { createRowEncryption } from '../create-row-encryption.ts'
import { loadLoggedOldFormatState } from '../load-logged-old-format-state.ts'

/** The files, the settings and the terminal that a command uses. */
export interface CommandEnvironment {
  readonly environment: Readonly<Record<string, unknown>>
  readonly readConfigFile: () => unknown
  readonly readFile: (path: string) => string
  readonly writeFile: (path: string, text: string) => void
  readonly print: (text: string) => void
  readonly printError: (line: string) => void
  /** Replaces the last line of progress on the terminal; null if the output is not a terminal. */
  readonly printProgress: ((line: string) => void) | null
  readonly columns: number
}

/**
 * Runs the command. Resolves to the exit code, which is 2 if the arguments are wrong or the
 * conversation cannot be read.
 */
export async function runSimulateCommand(
  args: readonly string[],
  terminal: CommandEnvironment,
): Promise<0 | 2> {
  try {
    const parsed = parseSimulateArguments(args)
    const { bindsReasoning, seeds, recording, printsJson, svgPath, showsUsage, prices } = parsed
    if (showsUsage) {
      terminal.print(`${SIMULATE_USAGE}\n`)
      return 0
    }
    const scripts =
      recording === null
        ? seeds.map((seed) => generateConversation(seed, parsed))
        : await loadScripts(recording, terminal)
    let played = 0
    const results = comparePolicies({ ...parsed, scripts }, (policy, script) => {
      played += 1
      terminal.printProgress?.(`${played} played: ${script}, ${policy}`)
    })
    terminal.printProgress?.('')
    const figures = convertResultsToNumbers(results, bindsReasoning, prices)
    if (svgPath !== null) terminal.writeFile(svgPath, renderSvgChart(figures))
    terminal.print(
      printsJson
        ? `${JSON.stringify(figures, null, 1)}\n`
        : renderTerminalReport(figures, describeScripts(parsed, scripts), terminal.columns),
    )
    return 0
  } catch (error) {
    terminal.printError(errorMessage(error))
    return 2
  }
}

function describeScripts(
  { recording, rounds }: Pick<SimulateArguments, 'recording' | 'rounds'>,
  scripts: readonly ConversationScript[],
): string {
  const requests = scripts.reduce((sum, { exchanges }) => sum + exchanges.length, 0)
  const noun = scripts.length === 1 ? 'conversation' : 'conversations'
  const description =
    recording === null ? `generated ${noun} of ${rounds} turns` : `recorded ${noun}`
  return `${scripts.length} ${description}, ${requests} requests under each policy.`
}

async function loadScripts(
  source: ConversationSource,
  terminal: CommandEnvironment,
): Promise<readonly ConversationScript[]> {
  if (source.storedIn === 'database') return [await loadStoredScript(source, terminal)]
  const { path } = source
  let text: string
  try {
    text = terminal.readFile(path)
  } catch {
    throw new Error(`--from names ${path}, which cannot be read.`)
  }
  return readRecording(text, path)
}

async function loadStoredScript(
  { kind, id, tenant, user }: Extract<ConversationSource, { storedIn: 'database' }>,
  { environment, readConfigFile, printError }: CommandEnvironment,
): Promise<ConversationScript> {
  const config = readConfigFile()
  const settings = readSettings(addMissingKeys(environment, config), config)
  const tenantName = tenant ?? findOnlyTenant(settings.BACKSTORY_KEYS)
  if (tenantName === null) {
    const names = listTenants(settings.BACKSTORY_KEYS).join(', ')
    throw new Error(
      `There are several API keys (${names}). Name the one that owns the conversation with --key.`,
    )
  }
  const owner = { tenant: tenantName, user }
  const log = () => printError('Some rows cannot be decrypted with the keys of STORAGE_KEYS.')
  const engine = await openEngine(settings.DATABASE_URL)
  try {
    const { trustsOldFormats } = await loadLoggedOldFormatState(engine, settings, () => undefined)
    const encryption = createRowEncryption(settings.STORAGE_KEYS, () => trustsOldFormats, log)
    const { store, conversations } = createStores(engine, encryption)
    const turn =
      kind === 'response'
        ? turnIdOfResponse(id)
        : ((await conversations.findConversation(owner, id))?.headTurnId ?? null)
    const chain = turn === null ? null : await store.loadChain(owner, turn)
    if (chain === null) {
      throw new Error(
        `There is no ${kind} "${id}" of ${owner.tenant}${user === null ? '' : `, user ${user}`} in the database.`,
      )
    }
    return createScriptWithoutIdsAndOrigins(id, chain.flatMap(excludeDeletedItems))
  } finally {
    await engine.close()
  }
}
