/**
 * The current code reads databases that an earlier version wrote, on each engine, and answers as that
 * version did. `write-old-databases.ts` describes how they were made.
 */
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSampled } from '../support/sample.ts'
import { CHECKS, READING_CHECKS, type Target, type Check } from './read-back.ts'
import { ENGINES, type EngineName, type Environment, type OpenDatabase } from './databases.ts'
import { NEWEST_KEY, OLD_KEYS, READ_AT_MS } from './phases.ts'
import { readDump, readExpected } from './stored.ts'
import { startUpstreams } from './upstream-services.ts'

interface Subject {
  readonly name: string
  readonly engine: EngineName
  readonly open: OpenDatabase
  readonly checks: readonly Check[]
  readonly isResealed: boolean
}

/** D1 has no `reseal` command. */
const ALL_SUBJECTS: readonly Subject[] = [
  ...ENGINES.map(([engine, open]) => {
    return { name: engine, engine, open, checks: CHECKS, isResealed: false }
  }),
  ...ENGINES.filter(([engine]) => engine !== 'd1').map(([engine, open]) => {
    const name = `${engine}, resealed`
    return { name, engine, open, checks: READING_CHECKS, isResealed: true }
  }),
]

/** Each run reads about half of the databases. */
const SUBJECTS = ALL_SUBJECTS.filter((_, index) => isSampled(index, 3))

interface Served {
  readonly target: Target
  readonly close: () => Promise<void>
}

// All gateways start at once, because a start mostly waits. One that fails fails its own tests only.
const starts = new Map<string, Promise<Served>>()
beforeAll(async () => {
  for (const subject of SUBJECTS) starts.set(subject.name, serve(subject))
  await Promise.allSettled(starts.values())
})
afterAll(async () => {
  const served = await Promise.allSettled(starts.values())
  await Promise.all(
    served.map((start) => (start.status === 'fulfilled' ? start.value.close() : Promise.resolve())),
  )
})

describe.each(SUBJECTS)('reading an old database on $name', ({ name, engine, checks }) => {
  const { answers } = readExpected(engine)

  test.each(checks)(
    'an old database is read as before: %s',
    { timeout: 60_000 },
    async (check, read) => {
      const target = (await starts.get(name))?.target
      if (target === undefined) throw new Error('The gateway was not started.')
      expect(withoutSentences(await read(target))).toEqual(withoutSentences(answers[check]))
      expect(target.upstreams.services.refusals).toEqual([])
    },
  )
})

async function serve({ engine, open, isResealed }: Subject): Promise<Served> {
  const upstreams = await startUpstreams()
  const database = await open(readDump(engine))
  const environment = { ...upstreams.environment, ...database.settings }
  if (isResealed) {
    const report = await reseal({ ...environment, STORAGE_KEYS: `${NEWEST_KEY},${OLD_KEYS}` })
    expect(report).toMatch(/reseal: [1-9]\d+ rows encrypted, 0 rows unchanged/)
  }
  const keys = isResealed ? NEWEST_KEY : OLD_KEYS
  const gateway = await database.serve({ ...environment, STORAGE_KEYS: keys }, READ_AT_MS)
  return {
    target: { url: gateway.url, notes: readExpected(engine).notes, upstreams },
    async close() {
      await gateway.kill()
      await database.drop()
      await upstreams.close()
    },
  }
}

async function reseal(environment: Environment): Promise<string> {
  const child = spawn(process.execPath, ['src/main/start.js', 'reseal'], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { ...process.env, ...environment },
  })
  let report = ''
  child.stderr.on('data', (bytes: Buffer) => (report += String(bytes)))
  await new Promise((resolve) => child.once('close', resolve))
  return report
}

/** Masks sentences for people, whose wording may improve from one version to the next. */
function withoutSentences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSentences)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      SENTENCES.has(name) && typeof field === 'string' ? '(a sentence)' : withoutSentences(field),
    ]),
  )
}

const SENTENCES: ReadonlySet<string> = new Set(['sentence', 'detail', 'message'])
