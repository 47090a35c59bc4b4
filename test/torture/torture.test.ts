/** Runs parts of the torture suite (`npm run torture`) for a few seconds each. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createDatabase } from '../support/postgres.ts'
import { isSampled } from '../support/sample.ts'
import { PARTS } from './parts.ts'
import { createRandom } from './support/random.ts'

/** Parts that fail today, each with the defense that is missing. */
const PARTS_WITHOUT_DEFENSE: Readonly<Record<string, string>> = {}

/** Rounds are short here; the default is one. */
const ROUNDS: Readonly<Record<string, number>> = {
  database: 2,
  upstream: 2,
  bytes: 4,
  isolation: 2,
}

const seed = Number(process.env['TORTURE_SEED'] ?? 1)

/** Each run tries a third of the parts, and `npm run test:all` all of them. */
const parts = PARTS.filter(
  ({ name }, index) => !(name in PARTS_WITHOUT_DEFENSE) && isSampled(index, 5),
)

describe.concurrent('a short run of the torture suite', () => {
  test.each(parts)(
    'nothing is lost, leaked or blocked by the part "$name"',
    async (part) => {
      const folder = mkdtempSync(join(tmpdir(), `backstory-torture-${part.name}-`))
      try {
        const { faults } = await part.run({
          rounds: ROUNDS[part.name] ?? 1,
          isBrief: true,
          random: createRandom(seed),
          folder,
          createDatabase,
          crashPostgres: null,
          printProgress: () => undefined,
        })
        expect(faults.examples()).toEqual([])
      } finally {
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
      }
    },
    120_000,
  )
})
