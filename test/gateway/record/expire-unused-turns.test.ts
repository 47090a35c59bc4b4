import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestHarness } from 'wrangler'
import {
  expireTurnsHourly,
  expireUnusedTurns,
  type ExpiryDependencies,
} from '../../../src/gateway/record/expire-unused-turns.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import { openD1, type D1Binding } from '../../../src/store/database/d1-engine.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { openEngine } from '../../../src/store/database/open-engine.ts'
import type {
  ExpiryAndDeletionStore,
  ExpiryCursor,
} from '../../../src/store/deletion/expiry-and-deletion-store-interface.ts'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import { newTurn, nextTurn } from '../../store/turns.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const NOW = 1_000 * DAY_MS

const logged: unknown[] = []
const createPorts = (
  deletion: ExpiryAndDeletionStore,
  RETENTION_DAYS: string,
): ExpiryDependencies => ({
  deletion,
  settings: readSettings({ RETENTION_DAYS }),
  nowMs: () => NOW,
  log: (level, event, fields) => void logged.push([level, event, fields]),
})
beforeEach(() => void logged.splice(0))

describe('the deletion of unused turns', () => {
  let stores: Stores
  beforeAll(async () => {
    stores = createStores(await openEngine('sqlite::memory:'))
  })
  afterAll(() => stores.store.close())

  const openTurnDaysAgo = async (days: number, turn: NewTurn = newTurn()): Promise<NewTurn> => {
    await stores.store.openTurn({ ...turn, createdAtMs: NOW - days * DAY_MS })
    return turn
  }
  const isStored = async ({ id, tenant }: NewTurn) =>
    (await stores.store.loadChain({ tenant, user: null }, id)) !== null
  const expire = (days: string) =>
    expireUnusedTurns(createPorts(stores.deletion, days), { pauseMs: 0 })

  test('a turn that was not used for RETENTION_DAYS is deleted, and the number of deleted turns is logged', async () => {
    const [old, young] = [await openTurnDaysAgo(31), await openTurnDaysAgo(29)]
    expect(await expire('30')).toBe(1)
    expect([await isStored(old), await isStored(young)]).toEqual([false, true])
    expect(logged).toEqual([['info', 'turns-expired', { turns: 1 }]])
    expect(await expire('30')).toBe(0)
    expect(logged).toHaveLength(1)
  })

  test('all turns of a long unused thread are deleted, ancestors and descendants, although a page has only 500', async () => {
    const root = await openTurnDaysAgo(90)
    let tip = root
    for (let depth = 0; depth < 1_200; depth += 1) {
      tip = await openTurnDaysAgo(depth % 2 === 0 ? 40 : 60, nextTurn(tip))
      if (depth % 100 === 0) await openTurnDaysAgo(70, nextTurn(tip))
    }
    expect(await expire('30')).toBe(1_213)
    expect(await isStored(root)).toBe(false)
  })

  test('only turns of temporary chats are deleted, after two days, if RETENTION_DAYS is `off`', async () => {
    const old = await openTurnDaysAgo(900)
    const young = await openTurnDaysAgo(1.9, newTurn({ isTemporary: true }))
    const older = await openTurnDaysAgo(2.1, newTurn({ isTemporary: true }))
    expect(await expire('off')).toBe(1)
    expect([await isStored(old), await isStored(young), await isStored(older)]).toEqual([
      true,
      true,
      false,
    ])
    expect(await expire('800')).toBe(1)
  })
})

describe('the batches in which unused turns are deleted', () => {
  const always = { usedAtMs: 1, turnId: 'X' }
  const createPortsWith = (expireTurns: ExpiryAndDeletionStore['expireTurns']) =>
    createPorts({ expireTurns, ...cursors } as ExpiryAndDeletionStore, '30')
  /** Where limited searches have stopped, by kind of chats. */
  const saved = new Map<string, ExpiryCursor | null>()
  const cursors: Pick<ExpiryAndDeletionStore, 'loadExpiryCursor' | 'saveExpiryCursor'> = {
    loadExpiryCursor: async (chats) => saved.get(chats) ?? null,
    saveExpiryCursor: async (chats, cursor) => void saved.set(chats, cursor),
  }
  beforeEach(() => saved.clear())

  test('the deletion of unused turns stops after the maximum number of batches', async () => {
    const expireTurns = vi.fn(async () => ({ deletedCount: 500, next: always }))
    const limits = { maxBatches: 7, pauseMs: 0 }
    expect(await expireUnusedTurns(createPortsWith(expireTurns), limits)).toBe(3_500)
    expect(expireTurns).toHaveBeenCalledTimes(7)
  })

  test('a limited search for unused turns continues where the last one stopped, and then begins again', async () => {
    const starts: (number | null)[] = []
    const expireTurns: ExpiryAndDeletionStore['expireTurns'] = async ({ chats, after }) => {
      if (chats === 'temporary') return { deletedCount: 0, next: null }
      const usedAtMs = (after?.usedAtMs ?? 6) - 1
      starts.push(after?.usedAtMs ?? null)
      return { deletedCount: 0, next: usedAtMs > 0 ? { usedAtMs, turnId: 'X' } : null }
    }
    const limits = { maxBatches: 4, pauseMs: 0 }
    await expireUnusedTurns(createPortsWith(expireTurns), limits)
    expect(starts).toEqual([null, 5, 4])
    await expireUnusedTurns(createPortsWith(expireTurns), limits)
    expect(starts.slice(3)).toEqual([3, 2, 1])
    await expireUnusedTurns(createPortsWith(expireTurns), limits)
    expect(starts.slice(6, 8)).toEqual([null, 5])
  })

  test('an unlimited search for unused turns goes through all of them', async () => {
    let batches = 0
    const expireTurns: ExpiryAndDeletionStore['expireTurns'] = async () => {
      batches += 1
      return { deletedCount: 0, next: batches < 1_000 ? always : null }
    }
    await expireUnusedTurns(createPortsWith(expireTurns), { pauseMs: 0 })
    expect(batches).toBe(1_001)
  })

  test('the deletion of unused turns pauses between two batches', async () => {
    vi.useFakeTimers()
    const expireTurns = vi.fn(async () => ({ deletedCount: 0, next: always }))
    const ended = expireUnusedTurns(createPortsWith(expireTurns), { maxBatches: 4, pauseMs: 20 })
    for (let batches = 1; batches <= 4; batches += 1) {
      await vi.advanceTimersByTimeAsync(19)
      expect(expireTurns).toHaveBeenCalledTimes(batches)
      await vi.advanceTimersByTimeAsync(1)
    }
    await vi.runAllTimersAsync()
    await ended
    vi.useRealTimers()
  })

  test('the deletion of unused turns ends when a batch fails, and logs the failure once', async () => {
    const expireTurns = vi.fn(() => Promise.reject(new Error('It is away.')))
    expect(await expireUnusedTurns(createPortsWith(expireTurns))).toBe(0)
    expect(expireTurns).toHaveBeenCalledTimes(1)
    expect(logged).toEqual([['warn', 'turns-not-expired', { why: 'It is away.' }]])
  })
})

describe('the schedule of expireTurnsHourly', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const MINUTE = 60_000
  const createPortsWith = (expireTurns: () => Promise<{ deletedCount: number; next: null }>) =>
    createPorts({ expireTurns } as unknown as ExpiryAndDeletionStore, 'off')

  test('expireTurnsHourly deletes turns a few minutes after the start and then every hour, even after a failure', async () => {
    let runs = 0
    const stop = expireTurnsHourly(
      createPortsWith(() => {
        runs += 1
        return runs === 1
          ? Promise.reject(new Error())
          : Promise.resolve({ deletedCount: 0, next: null })
      }),
    )
    await vi.advanceTimersByTimeAsync(3 * MINUTE)
    expect(runs).toBe(0)
    await vi.advanceTimersByTimeAsync(4 * MINUTE)
    expect(runs).toBe(1)
    await vi.advanceTimersByTimeAsync(73 * MINUTE)
    expect(runs).toBe(2)
    stop()
    await vi.advanceTimersByTimeAsync(300 * MINUTE)
    expect(runs).toBe(2)
  })

  test('expireTurnsHourly starts no deletion after it is stopped, and logs no failure of the one in progress', async () => {
    const batch = Promise.withResolvers<{ deletedCount: number; next: null }>()
    const expireTurns = vi.fn(() => batch.promise)
    const stop = expireTurnsHourly(createPortsWith(expireTurns))
    await vi.advanceTimersByTimeAsync(7 * MINUTE)
    stop()
    batch.reject(new Error('The database is closed.'))
    await vi.advanceTimersByTimeAsync(300 * MINUTE)
    expect(expireTurns).toHaveBeenCalledTimes(1)
    expect(logged).toEqual([])
  })
})

test('on Workers, unused turns are deleted when the cron trigger fires', async () => {
  process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false'
  process.env['WRANGLER_SEND_METRICS'] = 'false'
  const harness = createTestHarness({
    root: new URL('../../..', import.meta.url).pathname,
    workers: [{ configPath: 'wrangler.toml', vars: { RETENTION_DAYS: '30' } }],
  })
  await harness.listen()
  const worker = harness.getWorker<{ DB: D1Binding }>()
  await worker.applyD1Migrations('DB')
  const store = createTurnStore(openD1((await worker.getEnv()).DB))
  const [old, young] = [newTurn({ createdAtMs: 1 }), newTurn({ createdAtMs: Date.now() })]
  await store.openTurn(old)
  await store.openTurn(young)
  await worker.scheduled({ cron: '17 * * * *' })
  expect(await store.loadChain(old, old.id)).toBeNull()
  expect(await store.loadChain(young, young.id)).toHaveLength(1)
  await harness.close()
})
