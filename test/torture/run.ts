/**
 * The torture suite: attempts to make gateways lose data, stop, or serve what they must not. Progress goes to
 * standard error, the table to standard output; the exit code is 1 if anything was lost, leaked or blocked.
 *
 *   npm run torture                  all parts
 *   npm run torture -- kills 100     one part, with 100 rounds
 *   npm run torture -- --write       also writes the rows of these parts into the table of the README
 *
 * `TORTURE_SEED=7` repeats the choices of a run that printed 7, though not its timing.
 */
import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createDatabaseOn,
  startPostgresServer,
  type PostgresServer,
} from '../support/postgres-setup.ts'
import { PARTS } from './parts.ts'
import { renderTable, withRows, type PartReport } from './report.ts'
import { createFaultList } from './support/fault-list.ts'
import type { PartResult, TorturePart } from './support/part-interface.ts'
import { createRandom } from './support/random.ts'

const args = process.argv.slice(2)
const [name, rounds] = args.filter((word) => !word.startsWith('--'))
const parts = PARTS.filter((part) => name === undefined || part.name === name)
const seed = Number(process.env['TORTURE_SEED'] ?? randomInt(1_000_000))
const folder = mkdtempSync(join(tmpdir(), 'backstory-torture-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130))
}

let postgres: Promise<PostgresServer> | null = null

if (parts.length === 0) {
  const names = PARTS.map((part) => part.name).join(', ')
  process.stderr.write(`There is no part "${name}". The parts are: ${names}.\n`)
  process.exitCode = 1
} else {
  process.stderr.write(`seed ${seed}; TORTURE_SEED=${seed} makes the same choices\n`)
  const reports: PartReport[] = []
  for (const part of parts) reports.push(await runPart(part))
  await (await getStartedPostgres())?.close()
  process.stdout.write(`${renderTable(reports)}\n`)
  for (const { part, faults } of reports) {
    for (const example of faults.examples()) process.stderr.write(`${part.name}: ${example}\n`)
  }
  if (args.includes('--write')) {
    const readme = new URL('../../README.md', import.meta.url)
    const names = PARTS.map((part) => part.name)
    writeFileSync(readme, withRows(readFileSync(readme, 'utf8'), reports, names))
  }
  // Open connections of clients would keep the process alive.
  process.exit(reports.some(({ faults }) => faults.total() > 0) ? 1 : 0)
}

async function runPart(part: TorturePart): Promise<PartReport> {
  const startedAt = performance.now()
  const own = join(folder, part.name)
  mkdirSync(own)
  const print = (text: string): void => printProgress(`${part.name}: ${text}`)
  print('starting')
  const running = part.run({
    rounds: rounds === undefined ? part.rounds : Number(rounds),
    isBrief: false,
    random: createRandom(seed),
    folder: own,
    createDatabase: async () => createDatabaseOn((await getPostgres()).url),
    crashPostgres: async () => (await getPostgres()).crash(),
    printProgress: print,
  })
  // The other parts run even if one cannot be completed.
  const result = await running.catch((error: unknown): PartResult => {
    const faults = createFaultList()
    faults.add(
      'incomplete',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    )
    return { tried: '–', faults }
  })
  rmSync(own, { recursive: true, force: true })
  return { part, ...result, seconds: (performance.now() - startedAt) / 1000 }
}

/** A server of this run only: its commits must survive its own crash. */
function getPostgres(): Promise<PostgresServer> {
  return (postgres ??= startPostgresServer([]))
}

/** The variable is assigned in a function, which the compiler does not see. */
function getStartedPostgres(): Promise<PostgresServer> | null {
  return postgres
}

function printProgress(text: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(1).padStart(7)} s  ${text}\n`)
}
