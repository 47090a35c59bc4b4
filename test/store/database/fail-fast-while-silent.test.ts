import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Engine, SqlQuery, SqlRows } from '../../../src/store/database/engine-interface.ts'
import { failFastWhileSilent } from '../../../src/store/database/fail-fast-while-silent.ts'
import { openPostgres } from '../../../src/store/database/postgres-engine.ts'
import { startBreakableProxy } from '../../support/breakable-proxy.ts'
import { createDatabase } from '../../support/postgres.ts'

const FAILS_AT_ONCE = 'The database does not answer.'

test('while Postgres hangs, queries fail at once, except one at intervals; when it answers, all are sent', async () => {
  const database = await createDatabase()
  const url = new URL(database.url)
  const proxy = await startBreakableProxy({ port: Number(url.port) })
  url.port = String(proxy.port)
  const engine = failFastWhileSilent(openPostgres(url.href), { silenceMs: 200, retryMs: 600_000 })
  const select: SqlQuery = { name: null, sql: 'select 1 as one', parameters: [] }
  const answer = [[{ one: 1 }]]
  expect(await engine.read([select])).toEqual(answer)
  proxy.stopForwarding()
  const first = engine.read([select])
  await new Promise((resolve) => setTimeout(resolve, 250))
  const retry = engine.write([select])
  await expect(engine.read([select])).rejects.toThrow(FAILS_AT_ONCE)
  await expect(engine.write([select])).rejects.toThrow(FAILS_AT_ONCE)
  await proxy.repair()
  expect(await first).toEqual(answer)
  expect(await retry).toEqual(answer)
  expect(await engine.read([select])).toEqual(answer)
  await engine.close()
  await proxy.close()
  await database.drop()
})

describe('an engine that fails fast', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** Resolves when all queries so far have been sent or have failed. */
  const reached = () => new Promise((resolve) => setImmediate(resolve))

  /** A database that answers each read when the test says so. */
  function createDatabaseStub() {
    const pending: { answer: () => void; fail: (error: Error) => void }[] = []
    const hang = (): Promise<readonly SqlRows[]> =>
      new Promise((resolve, reject) => {
        pending.push({ answer: () => resolve([]), fail: reject })
      })
    const engine: Engine = {
      language: 'postgres',
      read: hang,
      write: hang,
      close: () => Promise.resolve(),
    }
    const { read, write } = failFastWhileSilent(engine)
    return { pending, write, ask: () => read([]).then(String, String) }
  }

  test('after a query has timed out, later ones fail at once, except one every two seconds', async () => {
    const { pending, ask } = createDatabaseStub()
    void ask()
    vi.advanceTimersByTime(5_000)
    pending[0]?.fail(new Error('timeout exceeded when trying to connect'))
    await reached()
    void ask()
    await reached()
    expect(pending).toHaveLength(2)
    for (let at = 0; at < 100; at += 1) expect(await ask()).toContain(FAILS_AT_ONCE)
    vi.advanceTimersByTime(2_000)
    const retry = ask()
    await reached()
    expect(pending).toHaveLength(3)
    expect(await ask()).toContain(FAILS_AT_ONCE)
    pending[2]?.answer()
    await retry
    void ask()
    void ask()
    await reached()
    expect(pending).toHaveLength(5)
  })

  test('a write that waits is sent even while others fail at once', async () => {
    const { pending, write, ask } = createDatabaseStub()
    void ask()
    vi.advanceTimersByTime(5_000)
    void ask()
    expect(await ask()).toContain(FAILS_AT_ONCE)
    const written = write([], 'power-cut', 'waits')
    await reached()
    expect(pending).toHaveLength(3)
    pending[2]?.answer()
    expect(await written).toEqual([])
  })

  test('after a pause of the process, queries whose answers have arrived do not count as unanswered', async () => {
    const { pending, ask } = createDatabaseStub()
    const before = ask()
    vi.advanceTimersByTime(60_000)
    const after = [ask(), ask(), ask()]
    pending[0]?.answer()
    await before
    await reached()
    expect(pending).toHaveLength(4)
    for (const { answer } of pending) answer()
    expect(await Promise.all(after)).toEqual(['', '', ''])
  })

  test('one slow query does not make others fail while the database answers them', async () => {
    const { pending, ask } = createDatabaseStub()
    const slow = ask()
    for (let at = 1; at <= 20; at += 1) {
      vi.advanceTimersByTime(1_000)
      const query = ask()
      pending[at]?.answer()
      expect(await query).toBe('')
    }
    pending[0]?.fail(new Error('Query read timeout'))
    expect(await slow).toContain('Query read timeout')
    void ask()
    void ask()
    await reached()
    expect(pending).toHaveLength(23)
  })

  test('queries that fail fast, e.g. because a connection is refused, do not keep later ones from being sent', async () => {
    const { pending, ask } = createDatabaseStub()
    for (let at = 0; at < 20; at += 1) {
      const query = ask()
      vi.advanceTimersByTime(1_000)
      pending[at]?.fail(new Error('connect ECONNREFUSED'))
      expect(await query).toContain('ECONNREFUSED')
    }
    expect(pending).toHaveLength(20)
  })
})
