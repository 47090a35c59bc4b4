/**
 * Checks the query plans of SQLite and Postgres: each query uses an index, whatever else is in its
 * tables.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine, SqlQuery } from '../../src/store/database/engine-interface.ts'
import { ENGINES } from './engines.ts'

export interface PlannedQueries {
  readonly queriesFor: (language: Engine['language']) => Readonly<Record<string, SqlQuery>>
  /** Pattern of the names of intermediate results and parameters, which may be scanned. */
  readonly own?: string
  /** True for steps that scan a table that is always short. */
  readonly isShort?: (step: string) => boolean
  /** Inserts rows without statistics, as in the first minutes of a busy gateway. */
  readonly fill?: (engine: Engine) => Promise<void>
}

const NAMES = ['SQLite in memory', 'Postgres']

export function expectIndexes({ queriesFor, own, isShort, fill }: PlannedQueries): void {
  const mayScan = [own, '\\d+ CONSTANT'].filter((name) => name !== undefined).join('|')
  const scan = new RegExp(`Seq Scan|\\bSCAN (?!${mayScan})|\\(tenant=\\?\\)`)

  /** True for a step without a condition, or with a condition on the tenant only. */
  const goesThroughAll = (step: string, next = ''): boolean => {
    if (isShort?.(step) === true) return false
    if (scan.test(step)) return true
    if (!/Index (Only )?Scan/.test(step)) return false
    return !/Index Cond: /.test(next) || /Index Cond: \(tenant = '\w+'::text\)$/.test(next)
  }

  describe.each(ENGINES.filter(([name]) => NAMES.includes(name)))(
    'query plans of statements on %s',
    (name, open) => {
      let engine: Engine
      beforeAll(async () => {
        engine = await open()
        if (name === 'Postgres') await fill?.(engine)
      })
      afterAll(() => engine.close())
      const explain = name === 'Postgres' ? 'explain' : 'explain query plan'

      test.each(Object.keys(queriesFor('sqlite')))(
        'the statement %s uses an index and scans no table',
        async (query) => {
          const { sql, parameters } = queriesFor(engine.language)[query] as SqlQuery
          const [plan = []] = await engine.read([
            { name: null, sql: `${explain} ${sql}`, parameters },
          ])
          const steps = plan.map((step) => Object.values(step as object).join(' '))
          expect(steps.filter((step, at) => goesThroughAll(step, steps[at + 1]))).toEqual([])
        },
      )
    },
  )
}
