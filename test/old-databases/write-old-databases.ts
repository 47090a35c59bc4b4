/**
 * Writes the old databases again with the current code:
 *
 *     npx vitest run --config test/old-databases/write.config.ts
 *
 * After a change of what answers contain, e.g. a new field, keep the databases and write only the expected answers. Read
 * the differences that `old-databases.test.ts` shows before:
 *
 *     OLD_DATABASES=keep npx vitest run --config test/old-databases/write.config.ts
 *
 * Do not run the first command because `old-databases.test.ts` fails: that test fails when the code no longer reads what an
 * earlier version wrote. Run it to store more kinds of data, with code that passes the test.
 */
import { mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { objectIn } from './json.ts'
import { ENGINES, type OldDatabase, type OpenDatabase, type Tables } from './databases.ts'
import { OLD_KEYS, PHASES, READ_AT_MS } from './phases.ts'
import { CHECKS, type Answers } from './read-back.ts'
import { readDump, readExpected, writeStored } from './stored.ts'
import { startUpstreams } from './upstream-services.ts'
import { beginOpenRuns, newNotes, writePhase, type Notes } from './write-phase.ts'

const keepsDatabases = process.env['OLD_DATABASES'] === 'keep'

test.runIf(keepsDatabases).each(ENGINES)('the answers over %s', async (engine, open) => {
  const [dump, { notes }] = [readDump(engine), readExpected(engine)]
  writeStored(engine, dump, { notes, answers: await readBack(open, dump, notes) })
})

test.skipIf(keepsDatabases).each(ENGINES)('%s', async (engine, open) => {
  const database = await open()
  const notes = await writePhases(database)
  expectEveryColumn(await database.tables())
  const dump = await database.dump()
  await database.drop()
  const answers = await readBack(open, dump, notes)
  mkdirSync(new URL('stored', import.meta.url), { recursive: true })
  writeStored(engine, dump, { notes, answers })
})

async function writePhases(database: OldDatabase): Promise<Notes> {
  const upstreams = await startUpstreams()
  const notes = newNotes()
  for (const phase of PHASES) {
    const { storageKeys, startsAtMs } = phase
    const environment = { ...upstreams.environment, STORAGE_KEYS: storageKeys }
    const gateway = await database.serve(environment, startsAtMs)
    await writePhase(phase, { url: gateway.url, notes, picture: upstreams.picture })
    const isLast = phase === PHASES.at(-1)
    const stopListening = isLast ? await beginOpenRuns(gateway.url, notes) : () => undefined
    // The gateway writes explanations, summaries and observations after the answer.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await gateway.kill()
    stopListening()
  }
  expect(upstreams.services.refusals).toEqual([])
  await upstreams.close()
  return notes
}

async function readBack(
  open: OpenDatabase,
  dump: Buffer,
  notes: Notes,
): Promise<Record<string, Answers>> {
  const upstreams = await startUpstreams()
  const database = await open(dump)
  const environment = { ...upstreams.environment, STORAGE_KEYS: OLD_KEYS }
  const gateway = await database.serve(environment, READ_AT_MS)
  const answers: Record<string, Answers> = {}
  for (const [check, read] of CHECKS) {
    answers[check] = await read({ url: gateway.url, notes, upstreams })
  }
  await gateway.kill()
  await database.drop()
  expect(upstreams.services.refusals).toEqual([])
  await upstreams.close()
  expectSeparateBranches(Object.values(answers))
  return answers
}

/** Requests that continue one branch hold its own texts only. */
function expectSeparateBranches(answers: readonly Answers[]): void {
  const sent = answers.flatMap((answer) => Object.entries(answer))
  for (const [branch, own, other] of BRANCHES) {
    const texts = sent
      .filter(([name]) => name.includes(branch))
      .map(([, answer]) => JSON.stringify(objectIn(answer)['sent'] ?? null))
      .filter((text) => text !== 'null')
    expect(texts.length).toBeGreaterThan(0)
    for (const text of texts) {
      expect(text).toContain(own)
      expect(text).not.toContain(other)
    }
  }
}

const BRANCHES = [
  ['one branch', 'Briefly', 'At length'],
  ['another branch', 'At length', 'Briefly'],
  ['edited', 'a storm', 'fog'],
] as const

/** Every table has rows, and every column has a value in at least one row. */
function expectEveryColumn(tables: Tables): void {
  const empty = Object.entries(tables).flatMap(([table, rows]) => {
    const columns = Object.keys(rows[0] ?? { anything: null })
    return columns
      .filter((column) => rows.every((row) => (row[column] ?? null) === null))
      .map((column) => `${table}.${column}`)
  })
  expect(empty).toEqual([])
}
