/** Event logs that are read completely, to end their run, count as memory of requests. */
import { expect, test } from 'vitest'
import { createMemoryBudget } from '../../src/gateway/request-memory.ts'
import { aMoment } from './background-test-support.ts'
import {
  ANN,
  until,
  withReplicas,
  type ReplicaCluster,
  type TestReplica,
} from './replica-cluster.ts'

/** One byte of JSON takes five bytes of memory. */
const LIMITS = { totalBytes: 10_000_000, bytesPerTenant: 5_000_000 }

/** Starts a run that does not end, with a log of about 1 MB. */
async function startLongRun(cluster: ReplicaCluster, replica: TestReplica): Promise<string> {
  const text = 'A tram goes to the harbour. '.repeat(20_000)
  const id = await cluster.startRun(replica, `/say ${text}\n/hang`)
  await until(async () => (await cluster.events(id)).length > 100)
  return id
}

test.each([
  ['the memory of the process', 'other', 1_980_000, 503, 'overloaded'],
  ['the memory of its key', ANN.tenant, 980_000, 429, 'rate_limit_exceeded'],
])(
  'a run whose log does not fit in %s is cancelled only when there is enough',
  (_, tenant, claimed, status, code) =>
    withReplicas(async (cluster) => {
      const requestMemory = createMemoryBudget(LIMITS)
      const replica = await cluster.startReplica({ requestMemory })
      const id = await startLongRun(cluster, replica)
      const blocking = requestMemory.trackRequest(tenant)
      blocking.claim({ bytes: claimed })
      await expect(cluster.cancel(replica, id)).rejects.toMatchObject({ failure: { status, code } })
      expect((await cluster.turn(id))?.state).toBe('open')
      blocking.close()
      expect(await cluster.cancel(replica, id)).toMatchObject({ status: 'cancelled' })
    }),
)

test('a run of a dead replica whose log does not fit in memory is ended when there is enough', () =>
  withReplicas(async (cluster) => {
    const first = await cluster.startReplica()
    const id = await startLongRun(cluster, first)
    first.kill()
    const requestMemory = createMemoryBudget(LIMITS)
    const blocking = requestMemory.trackRequest('other')
    blocking.claim({ bytes: 1_980_000 })
    const second = await cluster.startReplica({ requestMemory })
    await until(async () => (await cluster.turn(id))?.replicaId === second.id)
    await aMoment(500)
    expect((await cluster.turn(id))?.state).toBe('open')
    blocking.close()
    await until(async () => (await cluster.turn(id))?.state === 'failed')
    expect((await cluster.events(id)).at(-1)?.event).toBe('response.failed')
  }))
