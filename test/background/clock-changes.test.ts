/**
 * Clocks that differ or jump by hours do no harm: runs and locks of living replicas are not ended, and
 * those of a dead replica are ended within about a lease.
 */
import { describe, expect, test } from 'vitest'
import { lockConversation } from '../../src/gateway/history/lock-conversation.ts'
import { createStores } from '../../src/store/create-stores.ts'
import type { Engine } from '../../src/store/database/engine-interface.ts'
import { NO_ENCRYPTION } from '../../src/store/encryption/decrypt-rows.ts'
import { withClock } from '../store/change-database-time.ts'
import { ENGINES } from '../store/engines.ts'
import { newTurn } from '../store/turns.ts'
import { newTurnId, openMemory } from './background-test-support.ts'
import {
  ANN,
  until,
  withReplicas,
  type ReplicaCluster,
  type TestReplica,
} from './replica-cluster.ts'

/** Long enough for living replicas to renew it on a busy machine. */
const LEASE_MS = 2_000
const HOUR_MS = 60 * 60 * 1000
const engines = ENGINES.filter(([name]) => name === 'SQLite in memory' || name === 'Postgres')

type DatabaseClock = ReturnType<typeof withClock>['clock']

/** Plays with replicas whose processes and whose database can have any time. */
async function withClocks(
  open: () => Promise<Engine>,
  play: (
    cluster: ReplicaCluster,
    start: (aheadMs?: number) => Promise<TestReplica>,
    clock: DatabaseClock,
  ) => Promise<void>,
): Promise<void> {
  const { engine, clock } = withClock(await open())
  await withReplicas(
    (cluster) =>
      play(
        cluster,
        (aheadMs = 0) =>
          cluster.startReplica({
            ...createStores(engine, NO_ENCRYPTION, {
              storesUpstreamRequests: true,
              leaseMs: LEASE_MS,
            }),
            nowMs: () => Date.now() + aheadMs,
          }),
        clock,
      ),
    { RUN_LEASE_SECONDS: String(LEASE_MS / 1000) },
    async () => engine,
  )
}

/** A background run with output, an ordinary answer in progress, and a locked conversation. */
async function startWork(cluster: ReplicaCluster, replica: TestReplica) {
  const { conversations, store } = replica.world
  const run = await cluster.startRun(replica, '/repeat 3 word\n/hang')
  await until(async () => (await cluster.turn(run))?.output.length === 1)
  const turn = newTurn({ id: newTurnId(), ...ANN, replicaId: replica.id })
  await store.openTurn(turn)
  const answer = `resp_${turn.id}`
  const id = `conv_${turn.id}`
  await conversations.createConversation({ id, ...ANN, metadata: {}, createdAtMs: 1 }, null)
  await lockConversation(id, ANN, 'HELD', replica.world, null)
  const lock = (by: TestReplica) =>
    lockConversation(id, ANN, newTurnId(), by.world, null).then(
      async ({ release }) => {
        await release()
        return 'free'
      },
      () => 'busy',
    )
  return {
    lock,
    states: async () => [(await cluster.turn(run))?.state, (await cluster.turn(answer))?.state],
  }
}

/** Waits until a replica has renewed its lease so often that more than a lease has passed. */
async function afterALease({ world }: TestReplica): Promise<void> {
  const { renewReplica } = world.runs
  let count = 0
  const counting: typeof renewReplica = async (...request) => {
    await renewReplica(...request)
    count += 1
  }
  Object.assign(world.runs, { renewReplica: counting })
  await until(async () => count >= 2)
}

describe.concurrent('clocks that differ or jump', () => {
  test.each(engines)(
    'replicas whose clocks are an hour ahead or behind end nothing of living ones, and all of dead ones, on %s',
    (_, open) =>
      withClocks(open, async (cluster, start) => {
        const living = await start()
        const others = [await start(HOUR_MS), await start(-HOUR_MS)] as const
        const work = await startWork(cluster, living)
        const otherWork = await Promise.all(others.map((other) => startWork(cluster, other)))
        await Promise.all(others.map(afterALease))
        expect(await work.states()).toEqual(['open', 'open'])
        for (const other of others) expect(await work.lock(other)).toBe('busy')
        living.kill()
        await until(async () => String(await work.states()) === 'failed,failed')
        for (const other of others) await until(async () => (await work.lock(other)) === 'free')
        for (const { states } of otherWork) expect(await states()).toEqual(['open', 'open'])
      }),
  )

  // Jumps are detected in the same way on every engine, so they are tried on one.
  test.each([2 * HOUR_MS, -2 * HOUR_MS])(
    'if the clock of the database jumps by %i ms, nothing of living replicas ends, and all of dead ones',
    (aheadMs) =>
      withClocks(openMemory, async (cluster, start, clock) => {
        const [living, other] = [await start(), await start()]
        const work = await startWork(cluster, living)
        const otherWork = await startWork(cluster, other)
        await afterALease(other)
        clock.aheadMs = aheadMs
        expect(await work.lock(other)).toBe('busy')
        await afterALease(other)
        expect(await work.states()).toEqual(['open', 'open'])
        expect(await otherWork.states()).toEqual(['open', 'open'])
        expect(await work.lock(other)).toBe('busy')
        living.kill()
        await until(async () => String(await work.states()) === 'failed,failed')
        await until(async () => (await work.lock(other)) === 'free')
      }),
  )

  test.each([HOUR_MS, -HOUR_MS])(
    'if the clock of the database jumps by %i ms after a replica has died, all of its work ends',
    (aheadMs) =>
      withClocks(openMemory, async (cluster, start, clock) => {
        const dead = await start()
        const work = await startWork(cluster, dead)
        dead.kill()
        clock.aheadMs = aheadMs
        const other = await start()
        await until(async () => String(await work.states()) === 'failed,failed')
        await until(async () => (await work.lock(other)) === 'free')
      }),
  )
})
