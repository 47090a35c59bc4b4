/**
 * Writes the old databases anew, with the code as it is:
 *
 *     npx vitest run --config test/old-databases/write.config.ts
 *
 * Not to be done because a test fails: it fails where what was written before is no longer read as it
 * was. It is for databases that shall hold more than these do, written by code that reads these.
 */
import { mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { QUESTIONS, type Answers } from './accounts.ts'
import { ENGINES, type Tables } from './databases.ts'
import { OLD_KEYS, READ_AT_MS, TELLINGS, TOLD_AT_MS } from './tellings.ts'
import { beginOpenRuns, newNotes, tellLoadedPicture, tellStories } from './stories.ts'
import { writeStored } from './stored.ts'
import { startUpstreams } from './upstream-services.ts'

test.each(ENGINES)('%s', async (engine, open) => {
  const upstreams = await startUpstreams()
  const database = await open()
  const notes = newNotes()
  const { environment } = upstreams
  for (const [at, [plot, keys]] of TELLINGS.entries()) {
    const { name } = plot
    const toldAtMs = TOLD_AT_MS[at] ?? 0
    const gateway = await database.serve({ ...environment, STORAGE_KEYS: keys }, toldAtMs)
    await tellStories(gateway.url, plot, notes)
    await tellLoadedPicture(gateway.url, name, notes, `${upstreams.media.url}/cat.png`)
    const isLast = at === TELLINGS.length - 1
    const leave = isLast ? await beginOpenRuns(gateway.url, name, notes) : () => undefined
    // What is written behind an answer is written by then.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await gateway.kill()
    leave()
  }
  expect(upstreams.services.refusals).toEqual([])
  expectAll(await database.tables())
  const dump = await database.dump()
  await database.drop()
  await upstreams.close()

  const restored = await open(dump)
  const others = await startUpstreams()
  const gateway = await restored.serve(
    { ...others.environment, STORAGE_KEYS: OLD_KEYS },
    READ_AT_MS,
  )
  const answers: Record<string, Answers> = {}
  for (const [question, ask] of QUESTIONS) {
    answers[question] = await ask({ url: gateway.url, notes, upstreams: others })
  }
  await gateway.kill()
  await restored.drop()
  expect(others.services.refusals).toEqual([])
  await others.close()
  mkdirSync(new URL('stored', import.meta.url), { recursive: true })
  writeStored(engine, dump, { notes, answers })
})

/** Every table has rows, and every column a value in some of them. */
function expectAll(tables: Tables): void {
  const empty = Object.entries(tables).flatMap(([table, rows]) => {
    const columns = Object.keys(rows[0] ?? { nothing: null })
    return columns
      .filter((column) => rows.every((row) => (row[column] ?? null) === null))
      .map((column) => `${table}.${column}`)
  })
  expect(empty).toEqual([])
}
