/** Background runs beyond the limits wait in the database, and start in order, with turns between keys. */
import type { ClientTraits } from '../../../src/core/client/client-traits.ts'
import { describe, expect, test, vi } from 'vitest'
import { createBackgroundRunsOfRequest } from '../../../src/background/background-runs.ts'
import { hashIdempotencyKey } from '../../../src/background/idempotency/idempotency-key.ts'
import {
  createRunQueue,
  MAX_START_FAULTS,
  type StartedQueuedRun,
} from '../../../src/background/queue/run-queue.ts'
import type { PushSink } from '../../../src/core/stream/push-source-interface.ts'
import type { Transport } from '../../../src/upstream/transport/transport-interface.ts'
import { startQueuedRun } from '../../../src/background/recover-orphaned-run.ts'
import { canRestartRun } from '../../../src/background/restart-run.ts'
import { createWebHttpExchange } from '../../../src/server/runtime/web-http-exchange.ts'
import { conversationId } from '../../../src/core/turn-derived-ids.ts'
import { decodeFrames } from '../../support/logs.ts'
import { responsesFaults } from '../../support/responses-checker.ts'
import { createMemoryBudget } from '../../../src/gateway/request-memory.ts'
import { createRunPlaces } from '../../../src/background/queue/run-places.ts'
import type { ActiveRuns } from '../../../src/background/active-runs-and-lease.ts'
import { answerInRun } from '../../../src/background/answer-in-run.ts'
import { newTurnId, testWorld } from '../background-test-support.ts'
import {
  ANN,
  createAnswerRequest,
  startSilentRun,
  until,
  withReplicas,
  type ReplicaCluster,
  type TestReplica,
} from '../replica-cluster.ts'

/** Length of a text for which memory is claimed when it is loaded. */
const LARGE = 2_000_000
const ONE_AT_A_TIME = { BACKGROUND_RUNS_PER_KEY: '1' }
const BOB = { tenant: 'bob', user: null }

/** Waits until the run of the id has the state. */
const reaches = (cluster: ReplicaCluster, id: string, state: string) =>
  until(async () => (await cluster.turn(id))?.state === state)

describe.concurrent('the limit of background runs', () => {
  test('runs beyond the limit of a key stay queued, are not sent to an upstream, and start in order', () =>
    withReplicas(
      async (cluster) => {
        const replica = await cluster.startReplica()
        const ids: string[] = []
        for (let at = 0; at < 5; at += 1) ids.push(await cluster.startRun(replica, '/hang'))
        await until(async () => replica.sent().length === 2)
        for (const [at, id] of ids.entries()) {
          await reaches(cluster, id, 'open')
          const states = await Promise.all(ids.map(async (id) => (await cluster.turn(id))?.state))
          expect(states.slice(at + 2)).toEqual(ids.slice(at + 2).map(() => 'queued'))
          expect(replica.sent().length).toBeLessThanOrEqual(at + 2)
          await cluster.cancel(replica, id)
        }
        expect(replica.sent()).toHaveLength(5)
      },
      { BACKGROUND_RUNS_PER_KEY: '2' },
    ))

  test('the limit of the process applies to all keys together, and a new key starts before the queue of another', () =>
    withReplicas(
      async (cluster) => {
        const replica = await cluster.startReplica()
        const ids: string[] = []
        for (let at = 0; at < 4; at += 1) ids.push(await cluster.startRun(replica, '/hang'))
        const bobs = await cluster.startRun(replica, '/hang', {}, BOB)
        expect((await cluster.turn(bobs, BOB))?.state).toBe('queued')
        await cluster.cancel(replica, ids[0] ?? '')
        await until(async () => (await cluster.turn(bobs, BOB))?.state === 'open')
        expect((await cluster.turn(ids[2] ?? ''))?.state).toBe('queued')
        await cluster.cancel(replica, ids[1] ?? '')
        await reaches(cluster, ids[2] ?? '', 'open')
      },
      { BACKGROUND_RUNS: '2' },
    ))

  test('a key whose queue is full gets 429 with `retry-after`, and nothing is stored', () =>
    withReplicas(
      async (cluster) => {
        const replica = await cluster.startReplica()
        await cluster.startRun(replica, '/hang')
        const queued = await cluster.startRun(replica, '/say next')
        await expect(cluster.startRun(replica, 'x')).rejects.toMatchObject({
          failure: { status: 429, code: 'rate_limit_exceeded' },
          headers: { 'retry-after': '10' },
        })
        expect(cluster.opened).toHaveLength(2)
        await cluster.cancel(replica, queued)
        await cluster.startRun(replica, '/say fits again')
      },
      { ...ONE_AT_A_TIME, BACKGROUND_QUEUE_PER_KEY: '1' },
    ))

  test('an invalid request is rejected instead of queued, and takes no place in the queue', () =>
    withReplicas(
      async (cluster) => {
        const replica = await cluster.startReplica()
        await cluster.startRun(replica, '/hang')
        const body = { previous_response_id: 'resp_01JZZZZZZZZZZZZZZZZZ' }
        await expect(cluster.startRun(replica, 'x', body)).rejects.toMatchObject({
          failure: { code: 'previous_response_not_found' },
        })
        await expect(cluster.startRun(replica, 'x', { model: 'none' })).rejects.toMatchObject({
          failure: { code: 'model_not_found' },
        })
        await cluster.startRun(replica, '/say fits')
      },
      { ...ONE_AT_A_TIME, BACKGROUND_QUEUE_PER_KEY: '1' },
    ))

  test('while the database is unreachable, a run is rejected instead of queued', () =>
    withReplicas(async (cluster) => {
      const replica = await cluster.startReplica()
      const hanging = await cluster.startRun(replica, '/hang')
      cluster.faults.open = 1
      await expect(cluster.startRun(replica, 'x')).rejects.toMatchObject({
        failure: { code: 'store_unavailable' },
      })
      const next = await cluster.startRun(replica, '/say next')
      await cluster.cancel(replica, hanging)
      await reaches(cluster, next, 'complete')
    }, ONE_AT_A_TIME))

  test('streams that can be resumed have a limit of their own, beyond which they get 429', () =>
    withReplicas(async (cluster) => {
      const replica = await cluster.startReplica()
      const stream = (input: string) =>
        replica.runs.answer(createAnswerRequest({ stream: true, input }, true))
      const background = await cluster.startRun(replica, '/hang')
      const hanging = await stream('/say a\n/hang')
      const id = `resp_${cluster.opened[1]}`
      await until(async () => (await cluster.events(id)).length > 0)
      await expect(stream('x')).rejects.toMatchObject({ failure: { status: 429 } })
      await cluster.cancel(replica, id)
      await hanging?.text()
      const next = await until(async () => (await stream('/say b')?.catch(() => null)) ?? false)
      expect(await next.text()).toContain('response.completed')
      await cluster.cancel(replica, background)
    }, ONE_AT_A_TIME))
})

test('a run that cannot be started keeps no place', async () => {
  const world = await testWorld()
  let failures = 0
  const places = createRunPlaces({ maxRuns: 1, maxRunsPerKey: 1 })
  const queue = createRunQueue({ maxRuns: 1, maxRunsPerKey: 1, maxQueuedPerKey: 1 }, () =>
    Promise.resolve(null),
  )
  const activeRuns: ActiveRuns = {
    findLog: () => null,
    listLogs: () => [],
    queue,
    resumablePlaces: places,
    openSlot() {
      const whenLeased = failures-- > 0 ? Promise.reject(new Error('down')) : Promise.resolve()
      whenLeased.catch(() => undefined)
      const register = () => undefined
      return { replicaId: 'R1', whenLeased, register, close: () => Promise.resolve() }
    },
  }
  const start = (isStream: boolean) => {
    const body = isStream ? { stream: true } : { background: true }
    const request = createAnswerRequest({ ...body, input: '/say a' }, isStream)
    return answerInRun(request, activeRuns, world)
  }
  for (const isStream of [false, true]) {
    failures = 1
    await expect(start(isStream)).rejects.toMatchObject({ failure: { code: 'store_unavailable' } })
    await until(async () => places.hasFree(ANN.tenant))
    const response = await start(isStream)
    expect(await response?.text()).toContain(isStream ? 'response.completed' : 'queued')
  }
  await world.close()
})

describe.concurrent('a queued run', () => {
  /** Starts a run that has no end, and a queued one behind it. */
  async function startTwo(cluster: ReplicaCluster, more = {}) {
    const replica = await cluster.startReplica()
    const running = await cluster.startRun(replica, '/hang')
    const queued = await cluster.startRun(replica, '/think Hm.\n/say done', more)
    return { replica, running, queued }
  }

  test('a queued run has the same answer, and a stream with valid events, `response.in_progress` when it starts', () =>
    withReplicas(async (cluster) => {
      const { replica, running, queued } = await startTwo(cluster)
      const types = async () => (await cluster.events(queued)).map(({ event }) => event)
      expect(await types()).toEqual(['response.created', 'response.queued'])
      const followed = cluster.follow(replica, queued)
      await cluster.cancel(replica, running)
      await reaches(cluster, queued, 'complete')
      expect((await types()).slice(0, 4)).toEqual([
        'response.created',
        'response.queued',
        'response.in_progress',
        'response.output_item.added',
      ])
      const frames = decodeFrames(await followed)
      expect(responsesFaults(frames)).toEqual([])
      expect(frames.slice(0, -1)).toEqual(await cluster.events(queued))
    }, ONE_AT_A_TIME))

  test('the client of a queued stream receives `response.queued` at once and the answer later', () =>
    withReplicas(async (cluster) => {
      const replica = await cluster.startReplica()
      const running = await cluster.startRun(replica, '/hang')
      const body = { background: true, stream: true, input: '/say streamed' }
      const response = await replica.runs.answer(createAnswerRequest(body))
      const reader = response?.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!text.includes('event: response.queued')) text += (await reader?.read())?.value ?? ''
      expect(text).not.toContain('response.in_progress')
      await cluster.cancel(replica, running)
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
        text += next.value
      expect(responsesFaults(decodeFrames(text))).toEqual([])
      expect(text).toContain('streamed')
    }, ONE_AT_A_TIME))

  test('a run that is cancelled while it is queued is never sent, and its followers get the end of its stream', () =>
    withReplicas(async (cluster) => {
      const { replica, running, queued } = await startTwo(cluster)
      const followed = cluster.follow(replica, queued)
      expect(await cluster.cancel(replica, queued)).toMatchObject({ status: 'cancelled' })
      const [end, done] = decodeFrames(await followed).slice(-2)
      expect(JSON.parse(end?.data ?? '')).toMatchObject({
        type: 'response.failed',
        response: { status: 'cancelled', output: [] },
      })
      expect(done?.data).toBe('[DONE]')
      await cluster.cancel(replica, running)
      const last = await cluster.startRun(replica, '/say last')
      await reaches(cluster, last, 'complete')
      expect(JSON.stringify(replica.sent())).not.toContain('/say done')
      expect((await cluster.turn(queued))?.state).toBe('cancelled')
    }, ONE_AT_A_TIME))

  test('a queued run that another replica cancels is not started', () =>
    withReplicas(async (cluster) => {
      const { replica, running, queued } = await startTwo(cluster)
      const other = await cluster.startReplica()
      await cluster.cancel(other, queued)
      await cluster.cancel(replica, running)
      await reaches(cluster, await cluster.startRun(replica, '/say last'), 'complete')
      expect((await cluster.turn(queued))?.state).toBe('cancelled')
      expect(JSON.stringify(replica.sent())).not.toContain('/say done')
    }, ONE_AT_A_TIME))

  test('queued runs survive the death of their replica, and the next one answers each of them once, within its limit', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const ids = [await startSilentRun(cluster, first)]
      for (let at = 1; at < 6; at += 1) ids.push(await cluster.startRun(first, `/say ${at}`))
      first.kill()
      const mostAtOnce = countCalls(cluster)
      const second = await cluster.startReplica()
      for (const id of ids) await reaches(cluster, id, 'complete')
      expect(second.sent()).toHaveLength(6)
      expect(mostAtOnce()).toBe(1)
    }, ONE_AT_A_TIME))

  test('a replica that shuts down leaves its queued runs to the next one', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      await startSilentRun(cluster, first)
      const queued = await cluster.startRun(first, '/say done')
      await first.runs.shutDown(0)
      expect((await cluster.turn(queued))?.state).toBe('queued')
      await first.runs.releaseLease()
      await cluster.startReplica()
      await reaches(cluster, queued, 'complete')
    }, ONE_AT_A_TIME))

  test('a run that was queued for more than an hour can still be started, unlike one that had started', () =>
    withReplicas(async (cluster) => {
      const { queued } = await startTwo(cluster)
      const page = await cluster.shared.runs.readLog(ANN, queued.slice('resp_'.length), 0)
      if (page === null) throw new Error('It is not stored.')
      const old = { ...page, createdAtMs: Date.now() - 3 * 3_600_000 }
      expect(await canRestartRun(old, cluster.shared)).toBe(true)
      expect(await canRestartRun({ ...old, state: 'open' }, cluster.shared)).toBe(false)
    }, ONE_AT_A_TIME))

  test('a queued run keeps its conversation locked, and adds its turn to it at the end', () =>
    withReplicas(async (cluster) => {
      const id = conversationId(newTurnId())
      await cluster.shared.conversations.createConversation(
        { id, ...ANN, metadata: {}, createdAtMs: 1 },
        null,
      )
      const { replica, running, queued } = await startTwo(cluster, { conversation: id })
      await expect(cluster.startRun(replica, 'x', { conversation: id })).rejects.toMatchObject({
        failure: { code: 'conversation_locked' },
      })
      await cluster.cancel(replica, running)
      await reaches(cluster, queued, 'complete')
      const { headTurnId } = (await cluster.shared.conversations.findConversation(ANN, id)) ?? {}
      expect(`resp_${headTurnId}`).toBe(queued)
    }, ONE_AT_A_TIME))

  test('a queued run sends the upstream the same request as a run that starts at once', () =>
    withReplicas(async (cluster) => {
      const replica: TestReplica = await cluster.startReplica()
      const said = (role: string, content: string) => ({ role, content })
      const body = {
        input: [said('user', 'One'), said('assistant', 'Yes'), said('user', '/say two')],
        instructions: 'Be kind.',
        temperature: 0.5,
      }
      await reaches(cluster, await cluster.startRun(replica, '', body), 'complete')
      const running = await cluster.startRun(replica, '/hang')
      const queued = await cluster.startRun(replica, '', body)
      await cluster.cancel(replica, running)
      await reaches(cluster, queued, 'complete')
      expect(replica.sent().at(-1)).toEqual(replica.sent()[0])
    }, ONE_AT_A_TIME))

  test('a queued task request is still one when it starts, and a temporary chat still temporary', () =>
    withReplicas(async (cluster) => {
      const clients: ClientTraits[] = []
      const { hooks } = cluster.shared
      const replica = await cluster.startReplica({
        hooks: {
          ...hooks,
          storeSentRequests({ prepared }) {
            clients.push(prepared.clientRequest.client)
            return null
          },
        },
      })
      const running = await cluster.startRun(replica, '/hang')
      const request = createAnswerRequest({ background: true, input: '/say a title' })
      const client = { ...request.clientRequest.client, isTask: true, isTemporary: true }
      const response = await replica.runs.answer({
        ...request,
        clientRequest: { ...request.clientRequest, client },
      })
      const { id } = (await response!.json()) as { id: string }
      await cluster.cancel(replica, running)
      await reaches(cluster, id, 'complete')
      expect(clients.at(-1)).toMatchObject({ isTask: true, isTemporary: true })
    }, ONE_AT_A_TIME))

  test('two requests with the same Idempotency-Key queue one run, which is started although its key is used up', () =>
    withReplicas(async (cluster) => {
      const replica = await cluster.startReplica()
      const running = await cluster.startRun(replica, '/hang')
      const ask = async () => {
        const request = createAnswerRequest({ background: true, input: '/say once' })
        const response = await replica.runs.answerOnce(request, hashIdempotencyKey('k-1', request))
        return ((await response.json()) as { id: string }).id
      }
      const id = await ask()
      expect(await ask()).toBe(id)
      await cluster.cancel(replica, running)
      await reaches(cluster, id, 'complete')
      expect(JSON.stringify(replica.sent()).match(/once/g)).toHaveLength(1)
    }, ONE_AT_A_TIME))

  /** Queues a run that has a key, which may be started only as long as it is `queued`. */
  async function queueWithKey(replica: TestReplica) {
    const input = `/say waited\n${' '.repeat(LARGE)}`
    const request = createAnswerRequest({ background: true, input })
    const key = hashIdempotencyKey('k-2', request)
    const response = await replica.runs.answerOnce(request, key)
    return ((await response.json()) as { id: string }).id
  }

  test('a queued run for which too little memory is free stays queued until there is enough', () =>
    withReplicas(async (cluster) => {
      const requestMemory = createMemoryBudget({ totalBytes: 1, bytesPerTenant: 1 })
      const replica = await cluster.startReplica({ requestMemory })
      const running = await cluster.startRun(replica, '/hang')
      const queued = await queueWithKey(replica)
      const other = requestMemory.trackRequest('other')
      other.claim({ bytes: 1 })
      const loads = vi.spyOn(cluster.shared.runs, 'startRun')
      await cluster.cancel(replica, running)
      await until(async () => loads.mock.calls.length >= 2)
      await reaches(cluster, queued, 'queued')
      expect(replica.sent()).toHaveLength(1)
      const followed = cluster.follow(replica, queued)
      other.release()
      await reaches(cluster, queued, 'complete')
      expect(responsesFaults(decodeFrames(await followed))).toEqual([])
      expect(replica.sent()).toHaveLength(2)
    }, ONE_AT_A_TIME))

  test('a queued run that cannot be loaded while the database is unreachable is started later, once', () =>
    withReplicas(async (cluster) => {
      let failures = 0
      const { store, runs } = cluster.shared
      const failing = async <Result>(run: () => Promise<Result>): Promise<Result> => {
        if (failures-- > 0) throw new Error('down')
        return run()
      }
      const replica = await cluster.startReplica({
        store: { ...store, loadChain: (...args) => failing(() => store.loadChain(...args)) },
        runs: { ...runs, requeueRun: (run) => failing(() => runs.requeueRun(run)) },
      })
      const running = await cluster.startRun(replica, '/hang')
      const queued = await queueWithKey(replica)
      failures = 2
      await cluster.cancel(replica, running)
      await reaches(cluster, queued, 'complete')
      expect(JSON.stringify(replica.sent()).match(/waited/g)).toHaveLength(1)
    }, ONE_AT_A_TIME))

  test('a queued run that can never be loaded is postponed only a limited number of times', () =>
    withReplicas(async (cluster) => {
      const { shared } = cluster
      const replica = await cluster.startReplica({
        store: { ...shared.store, loadChain: () => Promise.reject(new Error('down')) },
      })
      await cluster.startRun(replica, '/hang')
      const queued = await queueWithKey(replica)
      const activeRuns: ActiveRuns = {
        findLog: () => null,
        listLogs: () => [],
        queue: null,
        resumablePlaces: null,
        openSlot: () => ({
          replicaId: replica.id,
          whenLeased: Promise.resolve(),
          register: () => undefined,
          close: () => Promise.resolve(),
        }),
      }
      const start = (faults: number) => {
        const turnId = queued.slice('resp_'.length)
        const run = { turnId, ...ANN, replicaId: replica.id, faults }
        return startQueuedRun(run, activeRuns, replica.world)
      }
      expect(await start(MAX_START_FAULTS - 1)).toEqual({ isPostponed: true, isFault: true })
      expect((await cluster.turn(queued))?.state).toBe('queued')
      expect(await start(MAX_START_FAULTS)).toBe(null)
    }, ONE_AT_A_TIME))

  test('a run that waits for memory can be cancelled', () =>
    withReplicas(async (cluster) => {
      const requestMemory = createMemoryBudget({ totalBytes: 1, bytesPerTenant: 1 })
      const replica = await cluster.startReplica({ requestMemory })
      const running = await cluster.startRun(replica, '/hang')
      const queued = await queueWithKey(replica)
      requestMemory.trackRequest('other').claim({ bytes: 1 })
      const starts = vi.spyOn(cluster.shared.runs, 'startRun')
      await cluster.cancel(replica, running)
      await until(async () => starts.mock.calls.length >= 1)
      await until(() => cluster.cancel(replica, queued).then(() => true))
      expect((await cluster.turn(queued))?.state).toBe('cancelled')
      expect(replica.sent()).toHaveLength(1)
    }, ONE_AT_A_TIME))

  test('on Workers, there is no queue', () =>
    withReplicas(async (cluster) => {
      const exchange = createWebHttpExchange(new Request('http://localhost/'), () => undefined)
      const ids: string[] = []
      for (const input of ['/hang', '/say done']) {
        const request = createAnswerRequest({ background: true, input })
        const runs = createBackgroundRunsOfRequest(cluster.shared)
        const answer = (await runs.answer({ ...request, exchange })) ?? Response.error()
        ids.push(((await answer.json()) as { id: string }).id)
      }
      await reaches(cluster, ids[1] ?? '', 'complete')
      const { memory } = createAnswerRequest({ input: 'x' })
      await createBackgroundRunsOfRequest(cluster.shared).cancel(ids[0] ?? '', ANN, memory)
    }, ONE_AT_A_TIME))
})

/** Counts how many upstream calls of later replicas are in progress at the same time, at most. */
function countCalls({ shared }: ReplicaCluster): () => number {
  const { transport } = shared
  let calls = 0
  let most = 0
  const counting: Transport = (request) => {
    const call = transport(request)
    calls += 1
    most = Math.max(most, calls)
    const reply = call.reply.then((received) => ({
      ...received,
      flow: (sink: PushSink) =>
        received.flow({
          ...sink,
          end() {
            calls -= 1
            sink.end()
          },
        }),
    }))
    return { ...call, reply }
  }
  Object.assign(shared, { transport: counting })
  return () => most
}

test('a postponed run is tried again, and other runs do not wait for it', async () => {
  const started: string[] = []
  const limits = { maxRuns: 1, maxRunsPerKey: 1, maxQueuedPerKey: 9 }
  const queue = createRunQueue(limits, async ({ turnId }, faults) => {
    started.push(`${turnId} ${faults}`)
    return turnId === 'a' && faults === 0 ? { isPostponed: true, isFault: true } : null
  })
  const add = (turnId: string) => queue.add({ tenant: 't', user: null, turnId }, Promise.resolve())
  add('a')
  add('b')
  await vi.waitFor(() => expect(started).toEqual(['a 0', 'b 0']))
  await vi.waitFor(() => expect(started).toEqual(['a 0', 'b 0', 'a 1']), 5_000)
  expect(queue.whenStarted({ tenant: 't', user: null, turnId: 'a' })).toBe(null)
})

test('a queue that is closed does not start postponed runs', async () => {
  let starts = 0
  const limits = { maxRuns: 1, maxRunsPerKey: 1, maxQueuedPerKey: 9 }
  const queue = createRunQueue(limits, async () => {
    starts += 1
    return { isPostponed: true, isFault: false }
  })
  queue.add({ tenant: 't', user: null, turnId: 'a' }, Promise.resolve())
  await vi.waitFor(() => expect(starts).toBe(1))
  queue.close()
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(starts).toBe(1)
})

test('keys take turns: a queue of 1,000 runs delays another key by one run', async () => {
  const started: string[] = []
  const ends: (() => void)[] = []
  const queue = createRunQueue({ maxRuns: 2, maxRunsPerKey: 2, maxQueuedPerKey: 1_000 }, (run) => {
    started.push(run.turnId)
    const whenOver = new Promise<void>((resolve) => ends.push(resolve))
    return Promise.resolve({ whenOver } as StartedQueuedRun)
  })
  const add = (tenant: string, turnId: string) =>
    queue.add({ tenant, user: null, turnId }, Promise.resolve())
  const endNext = async () => {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (let at = 1000; at < 2000; at += 1) add('a', `a${at}`)
  add('b', 'b1')
  add('b', 'b2')
  add('c', 'c1')
  await vi.waitFor(() => expect(started).toHaveLength(2))
  for (let at = 0; at < 4; at += 1) await endNext()
  expect(started).toEqual(['a1000', 'a1001', 'b1', 'c1', 'a1002', 'b2'])
  queue.close()
  await endNext()
  expect(started).toHaveLength(6)
})
