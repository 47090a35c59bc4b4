/** Contract tests for the run store on every database: ownership, logs and leases. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { turnIdPrefixAt } from '../../src/core/turn-derived-ids.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { createRunStore } from '../../src/store/background-runs/sql-run-store.ts'
import { createTurnStore } from '../../src/store/turns/sql-turn-store.ts'
import {
  MAX_PAGE_GROUPS,
  type EventGroup,
  type RunStore,
} from '../../src/store/background-runs/run-store-interface.ts'
import { OWNERLESS_RUN_TIMEOUT_MS } from '../../src/store/background-runs/retention-and-orphan-times.ts'
import type { NewTurn, TurnStore } from '../../src/store/turns/turn-store-interface.ts'
import type { RowEncryption } from '../../src/store/encryption/decrypt-rows.ts'
import { moveLease } from './change-database-time.ts'
import type { OpenEngine } from './engines.ts'
import {
  assistant,
  serializeItems,
  createEnding,
  newId,
  newTurn,
  ORIGIN,
  OWNER,
  numberItems,
  STRANGER,
  user,
} from './turns.ts'

export function testRuns(open: OpenEngine, encryption: RowEncryption): void {
  let engine: Engine
  let store: TurnStore
  let runs: RunStore
  beforeAll(async () => {
    engine = await open()
    store = createTurnStore(engine, encryption)
    runs = createRunStore(engine, encryption)
  })
  afterAll(() => engine.close())

  const holdOf = ({ id, tenant, user }: NewTurn, replicaId = 'R1') => ({
    turnId: id,
    tenant,
    user,
    replicaId,
  })
  const openRun = async (fields: Partial<NewTurn> = {}): Promise<NewTurn> => {
    const turn = newTurn({ background: true, replicaId: 'R1', ...fields })
    await runs.openRun(turn, eventGroup(0, 2))
    return turn
  }
  const logOf = async ({ id, tenant }: NewTurn, from = 0) =>
    (await runs.readLog({ tenant, user: null }, id, from))?.groups
  const load = async (turn: NewTurn) => (await store.loadChain(turn, turn.id))?.at(-1)

  describe('the event log of a run', () => {
    test('the log of a run begins with the group that openRun stores, and recordRun adds groups', async () => {
      const turn = await openRun({ input: [user('hi')] })
      expect(await load(turn)).toMatchObject({ state: 'queued', input: [user('hi')] })
      expect(await runs.recordRun(holdOf(turn), eventGroup(3, 7), [])).toBe(true)
      expect(await runs.readLog(turn, turn.id, 0)).toEqual({
        turnId: turn.id,
        ...OWNER,
        replicaId: 'R1',
        dialect: 'responses',
        origin: ORIGIN,
        conversation: null,
        state: 'queued',
        background: true,
        isDeleted: false,
        isOrphaned: true,
        createdAtMs: turn.createdAtMs,
        startCount: 0,
        isLogged: true,
        groups: [eventGroup(0, 2), eventGroup(3, 7)],
      })
    })

    test('the log of a run is read from the group that contains an event', async () => {
      const turn = await openRun()
      await runs.recordRun(holdOf(turn), eventGroup(3, 7), [])
      await runs.recordRun(holdOf(turn), eventGroup(8, 8), [])
      expect(await logOf(turn, 2)).toEqual([eventGroup(0, 2), eventGroup(3, 7), eventGroup(8, 8)])
      expect(await logOf(turn, 5)).toEqual([eventGroup(3, 7), eventGroup(8, 8)])
      expect(await logOf(turn, 8)).toEqual([eventGroup(8, 8)])
      expect(await logOf(turn, 9)).toEqual([])
      expect(await logOf(turn, 900)).toEqual([])
    })

    test('the log of a run is read in pages', async () => {
      const turn = await openRun()
      for (let at = 3; at < 3 + MAX_PAGE_GROUPS; at++) {
        await runs.recordRun(holdOf(turn), eventGroup(at, at), [])
      }
      expect(await logOf(turn)).toHaveLength(MAX_PAGE_GROUPS)
      expect(await logOf(turn, MAX_PAGE_GROUPS + 1)).toEqual([
        eventGroup(MAX_PAGE_GROUPS + 1, MAX_PAGE_GROUPS + 1),
        eventGroup(MAX_PAGE_GROUPS + 2, MAX_PAGE_GROUPS + 2),
      ])
    })

    test('the log of a run stores a repeated group once, with the events of the last write', async () => {
      const turn = await openRun()
      await runs.recordRun(holdOf(turn), eventGroup(3, 4), [])
      await runs.recordRun(holdOf(turn), eventGroup(3, 6), [])
      await runs.openRun(turn, eventGroup(0, 2))
      expect(await logOf(turn)).toEqual([eventGroup(0, 2), eventGroup(3, 6)])
    })

    test('the log of a run stores any text', async () => {
      const turn = await openRun()
      const text = 'event: x\ndata: {"text":"é \\u0000 \u{1f600}"}\n\n'.repeat(5_000)
      await runs.recordRun(holdOf(turn), { first: 3, last: 3, text }, [])
      expect(await logOf(turn, 3)).toEqual([{ first: 3, last: 3, text }])
    })

    test('readLog finds no log for another tenant, and none for a turn without a log', async () => {
      const turn = await openRun()
      expect(await runs.readLog(STRANGER, turn.id, 0)).toBeNull()
      expect(await runs.readLog(turn, newId(), 0)).toBeNull()
      const plain = newTurn()
      await store.openTurn(plain)
      expect(await runs.readLog(plain, plain.id, 0)).toMatchObject({
        isLogged: false,
        background: false,
        state: 'open',
        groups: [],
      })
    })
  })

  describe('ownership of a run by a replica', () => {
    test('the owner of a run starts the run, records events and ends it', async () => {
      const turn = await openRun()
      expect(await runs.startRun(holdOf(turn))).toBe(true)
      expect((await load(turn))?.state).toBe('open')
      expect(await runs.recordRun(holdOf(turn), null, numberItems([assistant('a')]))).toBe(true)
      expect(
        await runs.recordRun(holdOf(turn), eventGroup(3, 3), numberItems([assistant('b')], 1)),
      ).toBe(true)
      const last = createEnding(turn, {
        items: numberItems([assistant('c'), assistant('d')], 1),
        amendedItems: numberItems([assistant('amended')]),
      })
      expect(await runs.endRun(holdOf(turn), last, eventGroup(4, 5))).toBe(true)
      expect(await load(turn)).toMatchObject({ state: 'complete', endedAtMs: last.endedAtMs })
      expect(serializeItems((await load(turn))?.output ?? [])).toEqual(
        serializeItems([assistant('amended'), assistant('b'), assistant('d')]),
      )
      expect(await runs.findStoredPositions(turn.tenant, turn.id)).toEqual(new Set([0, 1, 2]))
      expect(await runs.findStoredPositions('other', turn.id)).toEqual(new Set())
      expect(await logOf(turn)).toEqual([eventGroup(0, 2), eventGroup(3, 3), eventGroup(4, 5)])
    })

    test.each([
      ['another replica', { replicaId: 'R2' }],
      ['another tenant', { tenant: 'other' }],
      ['the owner of an unknown turn', { turnId: 'GONE' }],
    ])('the owner of a run cannot write if it is %s', async (_, wrong) => {
      const turn = await openRun()
      await expectPowerless({ ...holdOf(turn), ...wrong }, turn, 'queued')
    })

    test('the owner of a run cannot write after the run has ended', async () => {
      const turn = await openRun()
      await runs.endRun(holdOf(turn), createEnding(turn, { state: 'cancelled' }), null)
      await expectPowerless(holdOf(turn), turn, 'cancelled')
    })

    test('the owner of a run cannot write after another replica has claimed the run', async () => {
      const turn = await openRun()
      expect(await runs.claimRun(holdOf(turn), 'R2')).toBe(true)
      await expectPowerless(holdOf(turn), turn, 'queued')
      expect(await runs.recordRun(holdOf(turn, 'R2'), eventGroup(3, 3), [])).toBe(true)
    })

    test('a started run can be queued again', async () => {
      const turn = await openRun()
      await runs.startRun(holdOf(turn))
      expect(await runs.requeueRun(holdOf(turn))).toBe(true)
      expect((await load(turn))?.state).toBe('queued')
    })

    async function expectPowerless(
      hold: ReturnType<typeof holdOf>,
      turn: NewTurn,
      state: string,
    ): Promise<void> {
      const items = numberItems([assistant('late')])
      expect(await runs.startRun(hold)).toBe(false)
      expect(await runs.requeueRun(hold)).toBe(false)
      expect(await runs.recordRun(hold, null, items)).toBe(false)
      expect(await runs.recordRun(hold, eventGroup(3, 3), items)).toBe(false)
      expect(await runs.claimRun(hold, 'R3')).toBe(false)
      const late = { ...createEnding(turn, { items }), turnId: hold.turnId, tenant: hold.tenant }
      expect(await runs.endRun(hold, late, eventGroup(3, 3))).toBe(false)
      expect(await load(turn)).toMatchObject({ state, output: [] })
      expect(await logOf(turn)).toEqual([eventGroup(0, 2)])
    }

    test('one of several replicas that claim a run at the same time becomes its owner', async () => {
      const turn = await openRun()
      const takers = Array.from({ length: 8 }, (_, at) => `T${at}`)
      const taken = await Promise.all(takers.map((taker) => runs.claimRun(holdOf(turn), taker)))
      expect(taken.filter(Boolean)).toHaveLength(1)
      const page = await runs.readLog(turn, turn.id, 0)
      expect(page?.replicaId).toBe(takers[taken.indexOf(true)])
    })

    test("of the owner's writes at the time of a claim, those before it are stored and those after it are not", async () => {
      const turn = await openRun()
      const written = Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          runs.recordRun(
            holdOf(turn),
            eventGroup(3 + at, 3 + at),
            numberItems([assistant('x')], at),
          ),
        ),
      )
      await runs.claimRun(holdOf(turn), 'R2')
      const seen = await logOf(turn)
      const count = (await written).filter(Boolean).length
      expect(await logOf(turn)).toEqual(seen)
      expect(seen).toHaveLength(1 + count)
      expect((await load(turn))?.output).toHaveLength(count)
    })

    test('a run is ended once, however many attempts its owner makes', async () => {
      const turn = await openRun()
      const ended = await Promise.all(
        (['complete', 'cancelled', 'failed'] as const).map((state, at) =>
          runs.endRun(
            holdOf(turn),
            createEnding(turn, { state, items: numberItems([assistant(state)]) }),
            {
              ...eventGroup(3, 3),
              text: `${at}`,
            },
          ),
        ),
      )
      expect(ended.filter(Boolean)).toHaveLength(1)
      const winner = ['complete', 'cancelled', 'failed'][ended.indexOf(true)] ?? ''
      const turnNow = await load(turn)
      expect(turnNow?.state).toBe(winner)
      expect(serializeItems(turnNow?.output ?? [])).toEqual(serializeItems([assistant(winner)]))
      expect((await logOf(turn, 3))?.[0]?.text).toBe(`${ended.indexOf(true)}`)
    })

    test('a run without an owner can be claimed', async () => {
      const turn = await openRun({ replicaId: null })
      const found = { ...OWNER, turnId: turn.id, replicaId: null }
      expect(await runs.claimRun({ ...found, replicaId: 'R9' }, 'R1')).toBe(false)
      expect(await runs.claimRun(found, 'R1')).toBe(true)
    })

    test('findOwnedRuns returns the runs that a replica still owns', async () => {
      const replicaId = newId()
      const [kept, ended, taken] = [
        await openRun({ replicaId }),
        await openRun({ replicaId }),
        await openRun({ replicaId }),
      ]
      await runs.endRun(holdOf(ended, replicaId), createEnding(ended), null)
      await runs.claimRun(holdOf(taken, replicaId), 'R2')
      const ids = [kept, ended, taken].map(({ id }) => id)
      expect(await runs.findOwnedRuns(replicaId, [...ids, 'GONE'])).toEqual(new Set([kept.id]))
    })
  })

  describe('the lease of a replica', () => {
    const NOW = 1_795_000_000_000
    const orphans = async () =>
      new Set((await runs.findOrphanedRuns('')).map(({ turnId }) => turnId))

    test('a run is not orphaned until the lease of its owner ends', async () => {
      const replicaId = newId()
      const turn = await openRun({ replicaId })
      const found = { ...OWNER, turnId: turn.id, replicaId }
      await runs.renewReplica(replicaId, 60_000, NOW)
      await moveLease(engine, 'replicas', replicaId, -50_000)
      expect(await orphans()).not.toContain(turn.id)
      await moveLease(engine, 'replicas', replicaId, -11_000)
      expect(await runs.findOrphanedRuns('')).toContainEqual(found)
      expect(await runs.findOrphanedRuns(turn.id)).not.toContainEqual(found)
      expect(await runs.readLog(turn, turn.id, 0)).toMatchObject({ isOrphaned: true })
      await runs.renewReplica(replicaId, 60_000, NOW)
      expect(await orphans()).not.toContain(turn.id)
      expect(await runs.readLog(turn, turn.id, 0)).toMatchObject({ isOrphaned: false })
      await runs.retireReplica(replicaId)
      expect(await orphans()).toContain(turn.id)
      await runs.endRun(holdOf(turn, replicaId), createEnding(turn), null)
      expect(await orphans()).not.toContain(turn.id)
    })

    test('a lease that ends much later than a renewed one would is over, because the clock went back', async () => {
      const replicaId = newId()
      const turn = await openRun({ replicaId })
      await runs.renewReplica(replicaId, 60_000, NOW)
      await moveLease(engine, 'replicas', replicaId, 15_000)
      expect(await orphans()).not.toContain(turn.id)
      await moveLease(engine, 'replicas', replicaId, 15_000)
      expect(await orphans()).toContain(turn.id)
      await runs.endRun(holdOf(turn, replicaId), createEnding(turn), null)
    })

    test('a run whose owner has no lease is orphaned at once, and a run without an owner after a long time', async () => {
      const turn = await openRun({ replicaId: newId() })
      const longAgoMs = Date.now() - OWNERLESS_RUN_TIMEOUT_MS
      const plain = newTurn({ replicaId: null, createdAtMs: longAgoMs + 60_000 })
      const old = newTurn({ replicaId: null, createdAtMs: longAgoMs - 60_000 })
      await store.openTurn(plain)
      await store.openTurn(old)
      expect(await orphans()).toContain(turn.id)
      expect(await orphans()).not.toContain(plain.id)
      expect(await orphans()).toContain(old.id)
      await store.closeTurn(createEnding(plain))
      await store.closeTurn(createEnding(old))
      await runs.endRun(
        { ...holdOf(turn), replicaId: turn.replicaId ?? '' },
        createEnding(turn),
        null,
      )
    })

    test('renewing the lease of a replica deletes old logs, but not those of unfinished runs', async () => {
      const beginning = turnIdPrefixAt(Date.UTC(2020, 0))
      const [over, running, young] = [
        await openRun({ id: `${beginning}A${newId().slice(11)}` }),
        await openRun({ id: `${beginning}B${newId().slice(11)}` }),
        await openRun({ id: turnIdPrefixAt(Date.now()) + newId().slice(10) }),
      ]
      await runs.endRun(holdOf(over), createEnding(over), eventGroup(3, 3))
      await runs.endRun(holdOf(young), createEnding(young), null)
      await runs.renewReplica('R1', 1_000, Date.now())
      const isLogged = async ({ tenant, id }: NewTurn) =>
        (await runs.readLog({ tenant, user: null }, id, 0))?.isLogged
      expect(await Promise.all([over, running, young].map(isLogged))).toEqual([false, true, true])
      expect((await load(over))?.state).toBe('complete')
      await runs.endRun(holdOf(running), createEnding(running), null)
    })

    test('the lease of a replica is deleted long after it has ended', async () => {
      const [old, fresh] = [newId(), newId()]
      await runs.renewReplica(old, 60_000, NOW)
      await moveLease(engine, 'replicas', old, -3 * 60 * 60 * 1000)
      await runs.renewReplica(fresh, 60_000, NOW)
      const [rows] = await engine.read([
        { name: null, sql: `select id from replicas where id = '${old}'`, parameters: [] },
      ])
      expect(rows).toEqual([])
    })
  })
}

function eventGroup(first: number, last: number): EventGroup {
  let text = ''
  for (let at = first; at <= last; at++) text += `event: e\ndata: {"sequence_number":${at}}\n\n`
  return { first, last, text }
}
