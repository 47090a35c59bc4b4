/**
 * `simulate` as a command: plays conversations under every policy, and tells what each would have
 * cost. Conversations are made, read from a file, or from the database of the settings.
 */
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import { excludeDeletedItems } from '../../gateway/history/exclude-deleted-items.ts'
import { readSettings } from '../../settings/read-settings.ts'
import { renderSvgChart } from '../../simulate/svg-chart.ts'
import { comparePolicies } from '../../simulate/compare-policies.ts'
import { convertResultsToNumbers } from '../../simulate/results-as-numbers.ts'
import { generateConversation, DEFAULT_TURN_COUNT } from '../../simulate/generate-conversation.ts'
import {
  parseSimulateArguments,
  SIMULATE_USAGE,
  type ConversationSource,
} from './simulate-arguments.ts'
import { readRecording, scriptOfItems } from '../../simulate/read-recording.ts'
import { renderTerminalReport } from '../../simulate/terminal-report.ts'
import type { ConversationScript } from '../../simulate/conversation-script.ts'
import { openEngine } from '../../store/database/open-engine.ts'
import { createStores } from '../../store/create-stores.ts'
import { findOnlyTenant } from '../../settings/tenants.ts'
import { createRowEncryption } from '../create-row-encryption.ts'

/** Where the command is run: everything that is not a value. */
export interface CommandEnvironment {
  readonly environment: Readonly<Record<string, unknown>>
  readonly configFile: () => unknown
  readonly read: (path: string) => string
  readonly write: (path: string, text: string) => void
  readonly print: (text: string) => void
  readonly complain: (line: string) => void
  /** `null` where nobody watches. */
  readonly progress: ((line: string) => void) | null
  readonly columns: number
}

/** Resolves to the code to exit with: 2 for what cannot be done as it was asked for. */
export async function runSimulateCommand(
  words: readonly string[],
  terminal: CommandEnvironment,
): Promise<0 | 2> {
  const asked = parseSimulateArguments(words)
  if (typeof asked === 'string') {
    terminal.complain(asked)
    return 2
  }
  const { binds, seeds, images, source, json, svg, help } = asked
  if (help) {
    terminal.print(`${SIMULATE_USAGE}\n`)
    return 0
  }
  try {
    const scripts =
      source === null
        ? seeds.map((seed) => generateConversation(seed, { hasImages: images }))
        : await recorded(source, terminal)
    let played = 0
    const standings = comparePolicies({ ...asked, scripts }, (policy, script) => {
      played += 1
      terminal.progress?.(`${played} played: ${script}, ${policy}`)
    })
    terminal.progress?.('')
    const figures = convertResultsToNumbers(standings, binds)
    if (svg !== null) terminal.write(svg, renderSvgChart(figures))
    terminal.print(
      json
        ? `${JSON.stringify(figures, null, 1)}\n`
        : renderTerminalReport(figures, titleOf(source, scripts), terminal.columns),
    )
    return 0
  } catch (fault) {
    terminal.complain(fault instanceof Error ? fault.message : String(fault))
    return 2
  }
}

function titleOf(
  source: ConversationSource | null,
  scripts: readonly ConversationScript[],
): string {
  const requests = scripts.reduce((sum, { exchanges }) => sum + exchanges.length, 0)
  const what =
    source === null ? `made conversations of ${DEFAULT_TURN_COUNT} turns` : 'recorded conversations'
  const count = scripts.length === 1 ? what.replace('conversations', 'conversation') : what
  return `${scripts.length} ${count}, ${requests} requests under each policy.`
}

async function recorded(
  source: ConversationSource,
  terminal: CommandEnvironment,
): Promise<readonly ConversationScript[]> {
  if (source.from === 'memory') return [await remembered(source, terminal)]
  const { path } = source
  let text: string
  try {
    text = terminal.read(path)
  } catch {
    throw new Error(`--from names ${path}, which cannot be read.`)
  }
  return readRecording(text, path)
}

async function remembered(
  { kind, id, tenant, user }: Extract<ConversationSource, { from: 'memory' }>,
  { environment, configFile, complain }: CommandEnvironment,
): Promise<ConversationScript> {
  const settings = readSettings(environment, configFile())
  const whose = tenant ?? findOnlyTenant(settings.BACKSTORY_KEYS)
  if (whose === null) throw new Error('There are several keys; --tenant says whose it is.')
  const owner = { tenant: whose, user }
  const log = () => complain('Some of it cannot be read with the keys of STORAGE_KEYS.')
  const engine = await openEngine(settings.DATABASE_URL)
  try {
    const { store, conversations } = createStores(
      engine,
      createRowEncryption(settings.STORAGE_KEYS, log),
    )
    const turn =
      kind === 'response'
        ? turnIdOfResponse(id)
        : ((await conversations.findConversation(owner, id))?.head ?? null)
    const chain = turn === null ? null : await store.loadChain(owner, turn)
    if (chain === null) {
      throw new Error(
        `There is no ${kind} "${id}" of ${owner.tenant}${user === null ? '' : `, user ${user}`} in the database.`,
      )
    }
    return scriptOfItems(id, chain.flatMap(excludeDeletedItems))
  } finally {
    await engine.close()
  }
}
