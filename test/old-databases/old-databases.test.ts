/**
 * Databases that an earlier version wrote are read as they were then. They hold what every table can
 * hold, sealed and not, on each engine; `write-old-databases.ts` says how they came about.
 */
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { QUESTIONS, READINGS, type Asking, type Question } from './accounts.ts'
import { ENGINES, type EngineName, type Environment, type OpenDatabase } from './databases.ts'
import { NEWEST_KEY, OLD_KEYS, READ_AT_MS } from './tellings.ts'
import { readDump, readExpected } from './stored.ts'
import { startUpstreams } from './upstream-services.ts'

interface Subject {
  readonly name: string
  readonly engine: EngineName
  readonly open: OpenDatabase
  readonly questions: readonly Question[]
  readonly isResealed: boolean
}

/** There is no command for D1 that seals anew. */
const SUBJECTS: readonly Subject[] = [
  ...ENGINES.map(([engine, open]) => {
    return { name: engine, engine, open, questions: QUESTIONS, isResealed: false }
  }),
  ...ENGINES.filter(([engine]) => engine !== 'd1').map(([engine, open]) => {
    const name = `${engine}, sealed anew`
    return { name, engine, open, questions: READINGS, isResealed: true }
  }),
]

interface Served {
  readonly asking: Asking
  readonly close: () => Promise<void>
}

const served = new Map<string, Served>()
beforeAll(async () => {
  // All at once, because most of a start is waiting.
  await Promise.all(
    SUBJECTS.map(async (subject) => void served.set(subject.name, await serve(subject))),
  )
})
afterAll(async () => {
  await Promise.all([...served.values()].map(({ close }) => close()))
})

describe.each(SUBJECTS)('a database of $name', ({ name, engine, questions }) => {
  const { answers } = readExpected(engine)

  test.each(questions)('%s', { timeout: 60_000 }, async (question, ask) => {
    const { asking } = served.get(name) ?? {}
    if (asking === undefined) throw new Error('It was not started.')
    expect(await ask(asking)).toEqual(answers[question])
    expect(asking.upstreams.services.refusals).toEqual([])
  })
})

async function serve({ engine, open, isResealed }: Subject): Promise<Served> {
  const upstreams = await startUpstreams()
  const database = await open(readDump(engine))
  const environment = { ...upstreams.environment, ...database.settings }
  if (isResealed) {
    const told = await reseal({ ...environment, STORAGE_KEYS: `${NEWEST_KEY},${OLD_KEYS}` })
    expect(told).toMatch(/sealed with "2026": [1-9]\d+ rows sealed, 0 that no key reads/)
  }
  const keys = isResealed ? NEWEST_KEY : OLD_KEYS
  const gateway = await database.serve({ ...environment, STORAGE_KEYS: keys }, READ_AT_MS)
  return {
    asking: { url: gateway.url, notes: readExpected(engine).notes, upstreams },
    async close() {
      await gateway.kill()
      await database.drop()
      await upstreams.close()
    },
  }
}

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
