/** The lease of an open turn on Workers, where no process outlives a request. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRunStore } from '../../../src/store/background-runs/sql-run-store.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import { moveLease } from '../change-database-time.ts'
import { ENGINES } from '../engines.ts'
import { createEnding, newTurn } from '../turns.ts'

const LEASE_MS = 30_000

describe.each(ENGINES.filter(([name]) => name !== 'a SQLite file'))(
  'turn leases on %s',
  (_, open) => {
    let engine: Engine
    beforeAll(async () => {
      engine = await open()
    })
    afterAll(() => engine.close())

    test('an open turn is orphaned when its lease is over, not before, and not if it has ended', async () => {
      const store = createTurnStore(engine, undefined, undefined, LEASE_MS)
      const runs = createRunStore(engine)
      const isOrphaned = async () => (await runs.readLog(turn, turn.id, 0))?.isOrphaned
      const turn = newTurn()
      await store.openTurn(turn)
      expect(await isOrphaned()).toBe(false)
      await moveLease(engine, 'replicas', turn.id, -2 * LEASE_MS)
      expect(await isOrphaned()).toBe(true)
      expect(await runs.findOrphanedRuns('')).toMatchObject([{ turnId: turn.id }])
      await store.turnLease?.renew(turn.id)
      expect(await isOrphaned()).toBe(false)
      expect(await store.closeTurn(createEnding(turn))).toBe(true)
      expect(await isOrphaned()).toBe(false)
      const [leases] = await engine.read([
        { name: null, sql: 'select id from replicas', parameters: [] },
      ])
      expect(leases).toEqual([])
    })
  },
)
