/**
 * `simulate` as a command: plays conversations under every policy, and tells what each would have
 * cost. Conversations are made, read from a file, or from the database of the settings.
 */
import { turnIdOfResponse } from '../../core/turn-derived-ids.ts'
import { visibleItems } from '../../gateway/history/exclude-deleted-items.ts'
import { readSettings } from '../../settings/read-settings.ts'
import { chart } from '../../simulate/svg-chart.ts'
import { compare } from '../../simulate/compare-policies.ts'
import { figuresOf } from '../../simulate/results-as-numbers.ts'
import { makeConversation, TURNS } from '../../simulate/generate-conversation.ts'
import { readArguments, USAGE, type Source } from './simulate-arguments.ts'
import { readRecording, scriptOfItems } from '../../simulate/read-recording.ts'
import { report } from '../../simulate/terminal-report.ts'
import type { Script } from '../../simulate/conversation-script.ts'
import { openEngine } from '../../store/database/open-engine.ts'
import { createStores } from '../../store/create-stores.ts'
import { onlyTenant } from '../../settings/tenants.ts'
import { vaultFor } from '../create-row-encryption.ts'

/** Where the command is run: everything that is not a value. */
export interface Terminal {
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
export async function simulateCommand(
  words: readonly string[],
  terminal: Terminal,
): Promise<0 | 2> {
  const asked = readArguments(words)
  if (typeof asked === 'string') {
    terminal.complain(asked)
    return 2
  }
  const { binds, seeds, images, source, json, svg, help } = asked
  if (help) {
    terminal.print(`${USAGE}\n`)
    return 0
  }
  try {
    const scripts =
      source === null
        ? seeds.map((seed) => makeConversation(seed, { hasImages: images }))
        : await recorded(source, terminal)
    let played = 0
    const standings = compare({ ...asked, scripts }, (policy, script) => {
      played += 1
      terminal.progress?.(`${played} played: ${script}, ${policy}`)
    })
    terminal.progress?.('')
    const figures = figuresOf(standings, binds)
    if (svg !== null) terminal.write(svg, chart(figures))
    terminal.print(
      json
        ? `${JSON.stringify(figures, null, 1)}\n`
        : report(figures, titleOf(source, scripts), terminal.columns),
    )
    return 0
  } catch (fault) {
    terminal.complain(fault instanceof Error ? fault.message : String(fault))
    return 2
  }
}

function titleOf(source: Source | null, scripts: readonly Script[]): string {
  const requests = scripts.reduce((sum, { exchanges }) => sum + exchanges.length, 0)
  const what = source === null ? `made conversations of ${TURNS} turns` : 'recorded conversations'
  const count = scripts.length === 1 ? what.replace('conversations', 'conversation') : what
  return `${scripts.length} ${count}, ${requests} requests under each policy.`
}

async function recorded(source: Source, terminal: Terminal): Promise<readonly Script[]> {
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
  { kind, id, tenant, user }: Extract<Source, { from: 'memory' }>,
  { environment, configFile, complain }: Terminal,
): Promise<Script> {
  const settings = readSettings(environment, configFile())
  const whose = tenant ?? onlyTenant(settings.BACKSTORY_KEYS)
  if (whose === null) throw new Error('There are several keys; --tenant says whose it is.')
  const owner = { tenant: whose, user }
  const log = () => complain('Some of it cannot be read with the keys of STORAGE_KEYS.')
  const engine = await openEngine(settings.DATABASE_URL)
  try {
    const { store, conversations } = createStores(engine, vaultFor(settings.STORAGE_KEYS, log))
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
    return scriptOfItems(id, chain.flatMap(visibleItems))
  } finally {
    await engine.close()
  }
}
