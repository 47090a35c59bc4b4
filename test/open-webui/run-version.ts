/** Runs parts with one version of Open WebUI: starts everything, connects it as a person does, and ends it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startChild } from '../support/child-gateway.ts'
import type { Part, PartContext } from './parts/part-interface.ts'
import type { Report } from './report.ts'
import { openScreen } from './support/browser.ts'
import { findMarkers } from './support/markers.ts'
import { openApi } from './support/open-webui-api.ts'
import { startOpenWebUi } from './support/open-webui-server.ts'
import type { Browser } from './support/playwright.ts'
import { addConnection, openHome, signUp, type ConnectionType } from './support/screen.ts'
import { MODELS, startSuiteUpstream, type Wire } from './support/upstream.ts'

export interface VersionRun {
  readonly version: string
  /** The program `open-webui` of this version. */
  readonly program: string
  /** For logs, screenshots and databases. */
  readonly folder: string
  readonly browser: Browser
  readonly parts: readonly Part[]
  readonly connections: readonly ConnectionType[]
  readonly wires: readonly Wire[]
  readonly behavior: Report
  readonly surfaces: Report
  readonly print: (text: string) => void
}

/** The wire of parts that use only one. */
const MAIN_WIRE = { chat: 'anthropic', responses: 'responses' } as const
const RESPONSES_PREFIX = 'resp'
const KEY = 'sk-backstory'

/** No part takes longer with one connection and one wire. */
const PART_MS = 180_000

export async function runVersion(run: VersionRun): Promise<void> {
  const { version, folder, browser, print } = run
  print(`starting Open WebUI ${version}, a gateway and an upstream`)
  const upstream = await startSuiteUpstream()
  const database = join(folder, 'backstory.db')
  const gateway = await startChild({
    ...upstream.environment,
    BACKSTORY_KEYS: `openwebui:${KEY}`,
    TRUST_USER_HEADERS: 'on',
    DATABASE_URL: `sqlite:${database}`,
  })
  const server = await startOpenWebUi(run)
  const screen = await openScreen(browser, folder)
  try {
    const { page } = screen
    await signUp(page, server.url, {
      name: 'Ada',
      email: 'ada@example.com',
      password: 'secret words',
    })
    const headers = readHeadersOfReadme()
    for (const type of ['chat', 'responses'] as const) {
      const prefix = type === 'chat' ? '' : RESPONSES_PREFIX
      const connection = { url: `${gateway.url}/v1`, key: KEY, headers, type, prefix }
      await addConnection(page, connection, screen.takeScreenshot)
      await openHome(page, server.url)
    }
    const api = await openApi(server.url, page)
    const countTurns = (): TurnCounts => countTurnsIn(database)
    const common = { url: server.url, screen, browser, api, upstream, folder, countTurns }
    for (const [part, connection, wire] of listRuns(run)) {
      const model = connection === 'chat' ? MODELS[wire] : `${RESPONSES_PREFIX}.${MODELS[wire]}`
      await runPart(run, part, { ...common, connection, wire, model })
    }
  } catch (error) {
    await screen.takeScreenshot('failed')
    throw error
  } finally {
    await screen.close()
    await server.end()
    await gateway.kill('SIGTERM')
    await upstream.close()
  }
}

type PartRun = readonly [part: Part, connection: ConnectionType, wire: Wire]

function listRuns({ parts, connections, wires }: VersionRun): readonly PartRun[] {
  return parts.flatMap((part) =>
    connections.flatMap((connection) => {
      const isAsked = wires.length < Object.keys(MODELS).length
      const own = part.usesEveryWire || isAsked ? wires : [MAIN_WIRE[connection]]
      return own.map((wire) => [part, connection, wire] as const)
    }),
  )
}

type CommonContext = Omit<PartContext, 'check' | 'checkSurface'>

async function runPart(run: VersionRun, part: Part, common: CommonContext): Promise<void> {
  const { behavior, surfaces, version } = run
  const { connection, wire, upstream, screen } = common
  const column = `${version} ${connection}`
  const check = (what: string, isGood: boolean, detail: unknown = ''): void => {
    const text = typeof detail === 'string' ? detail : JSON.stringify(detail)
    behavior.add({
      row: `${part.name}: ${what}`,
      column,
      wire,
      isGood,
      detail: text.slice(0, 1500),
    })
  }
  const context: PartContext = {
    ...common,
    check,
    checkSurface(surface, texts) {
      const found = texts.flatMap(findMarkers)
      const isSeen = texts.some((text) => text.trim() !== '')
      const detail = isSeen ? found.join(', ') : 'The suite saw no text here.'
      surfaces.add({ row: surface, column, wire, isGood: isSeen && found.length === 0, detail })
    },
  }
  const before = upstream.requests.length
  const limit = AbortSignal.timeout(PART_MS)
  const expired = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(new Error(`It took over ${PART_MS / 1000} s.`)))
  })
  try {
    await Promise.race([part.run(context), expired])
  } catch (error) {
    check('runs to its end', false, error instanceof Error ? error.message : String(error))
    await screen.takeScreenshot(`failed-${part.name}-${connection}-${wire}`)
  }
  const marked = upstream.requests.slice(before).flatMap(({ markers }) => markers)
  check('no marker reaches the upstream', marked.length === 0, marked)
}

/** Returns the JSON that the README tells administrators to enter, so that the suite tries just that. */
function readHeadersOfReadme(): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const [, json] = /\*Headers\*[^`]*```json\n(.*?)\n```/s.exec(readme) ?? []
  if (json === undefined) throw new Error('The README has no JSON for the field Headers.')
  return json
}

type TurnCounts = ReturnType<PartContext['countTurns']>

function countTurnsIn(path: string): TurnCounts {
  const database = new DatabaseSync(path, { readOnly: true })
  const statement = database.prepare(
    'select count(*) as "all", sum(short_lived) as short from turns',
  )
  const { all, short } = statement.get() ?? {}
  database.close()
  return { all: Number(all), short: Number(short) }
}
