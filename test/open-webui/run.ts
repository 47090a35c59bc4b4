/**
 * Tries the gateway with a real Open WebUI in a real browser, on request only. Progress and the folder of the
 * screenshots go to standard error, the tables to standard output; the exit code is 1 if a cell is bad.
 *
 *   npm run test:open-webui                          all parts, with every version
 *   npm run test:open-webui -- surfaces              one part; several names are possible
 *   npm run test:open-webui -- surfaces --version 0.12.4 --connection chat --wire gemini
 */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PARTS } from './parts.ts'
import { createReport, renderResults, type Result } from './report.ts'
import { launchBrowser } from './support/browser.ts'
import { installOpenWebUi } from './support/install.ts'
import { runVersion } from './run-version.ts'
import { TESTED_VERSIONS } from './tested-versions.ts'
import type { ConnectionType } from './support/screen.ts'
import { WIRES } from './support/upstream.ts'

const CONNECTIONS: readonly ConnectionType[] = ['chat', 'responses']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    version: { type: 'string' },
    connection: { type: 'string' },
    wire: { type: 'string' },
  },
})

const names = PARTS.map(({ name }) => name)
const unknown = positionals.find((name) => !names.includes(name))
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130))
}

if (unknown !== undefined) {
  print(`There is no part "${unknown}". The parts are: ${names.join(', ')}.`)
  process.exitCode = 1
} else {
  const results = await runAll().catch((error: unknown) => {
    print(error instanceof Error ? (error.stack ?? error.message) : String(error))
    process.exit(1)
  })
  process.exit(results.length > 0 && results.every(({ isGood }) => isGood) ? 0 : 1)
}

async function runAll(): Promise<readonly Result[]> {
  const versions = values.version === undefined ? TESTED_VERSIONS : [values.version]
  const programs = new Map<string, string>()
  for (const version of versions) programs.set(version, await installOpenWebUi(version))
  const folder = mkdtempSync(join(tmpdir(), 'backstory-open-webui-'))
  print(`logs and screenshots: ${folder}`)
  const browser = await launchBrowser()
  const behavior = createReport(print)
  const surfaces = createReport(print)
  for (const [version, program] of programs) {
    const own = join(folder, version)
    mkdirSync(own)
    await runVersion({
      version,
      program,
      folder: own,
      browser,
      parts: PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
      connections: CONNECTIONS.filter((type) => (values.connection ?? type) === type),
      wires: WIRES.filter((wire) => (values.wire ?? wire) === wire),
      behavior,
      surfaces,
      print,
    })
  }
  await browser.close()
  if (behavior.results().length > 0) {
    write(renderResults('behavior', behavior.results(), { good: 'yes', bad: 'NO' }))
  }
  if (surfaces.results().length > 0) {
    const words = { good: 'not visible', bad: 'VISIBLE' }
    write(renderResults('surface', surfaces.results(), words))
  }
  print(`screenshots: ${folder}`)
  return [...behavior.results(), ...surfaces.results()]
}

function print(text: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(5)} s  ${text}\n`)
}

function write(text: string): void {
  process.stdout.write(`\n${text}\n`)
}
