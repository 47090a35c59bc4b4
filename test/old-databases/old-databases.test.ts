/**
 * Databases that an earlier version wrote are read as they were then. They hold what every table can
 * hold, sealed and not, on each engine; `write-old-databases.ts` says how they came about.
 */
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { QUESTIONS, READINGS, type Asking } from './accounts.ts'
import { ENGINES, type Environment, type Gateway, type OldDatabase } from './databases.ts'
import { NEWEST_KEY, OLD_KEYS, RESEALING_KEYS } from './keys.ts'
import { readDump, readExpected } from './stored.ts'
import { startUpstreams, type UpstreamServices } from './upstream-services.ts'

describe.each(ENGINES)('a database of %s', (engine, open) => {
  const expected = readExpected(engine)
  let upstreams: UpstreamServices
  let database: OldDatabase
  let gateway: Gateway
  beforeAll(async () => {
    upstreams = await startUpstreams()
    database = await open(readDump(engine))
    gateway = await database.serve({ ...upstreams.environment, STORAGE_KEYS: OLD_KEYS })
  })
  afterAll(async () => {
    await gateway.kill()
    await database.drop()
    await upstreams.close()
  })

  const asking = (): Asking => ({ url: gateway.url, notes: expected.notes, upstreams })

  test.each(QUESTIONS)('%s', async (question, ask) => {
    expect(await ask(asking())).toEqual(expected.answers[question])
    expect(upstreams.services.refusals).toEqual([])
  })
})

/** There is no such command for D1. */
const WITH_COMMANDS = ENGINES.filter(([engine]) => engine !== 'd1')

describe.each(WITH_COMMANDS)('a database of %s that is sealed anew', (engine, open) => {
  const expected = readExpected(engine)

  test('is read with the newest key alone', async () => {
    const upstreams = await startUpstreams()
    const database = await open(readDump(engine))
    const settings = { ...upstreams.environment, ...database.settings }
    const told = await reseal({ ...settings, STORAGE_KEYS: RESEALING_KEYS })
    expect(told).toMatch(/sealed with "2026": [1-9]\d+ rows sealed, 0 that no key reads/)
    const gateway = await database.serve({ ...settings, STORAGE_KEYS: NEWEST_KEY })
    for (const [question, ask] of READINGS) {
      const answers = await ask({ url: gateway.url, notes: expected.notes, upstreams })
      expect(answers, question).toEqual(expected.answers[question])
    }
    await gateway.kill()
    await database.drop()
    await upstreams.close()
  })
})

async function reseal(environment: Environment): Promise<string> {
  const child = spawn(process.execPath, ['src/start.js', 'reseal'], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { ...process.env, ...environment },
  })
  let told = ''
  child.stderr.on('data', (bytes: Buffer) => (told += String(bytes)))
  await new Promise((resolve) => child.once('close', resolve))
  return told
}
