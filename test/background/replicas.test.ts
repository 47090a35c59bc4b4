/** Several replicas on one database: a run that one leaves behind is ended or restarted by another. */
import { describe, expect, test } from 'vitest'
import { decodeFrames } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { jsonOf } from '../support/responses-kit.ts'
import { newTurn } from '../store/turns.ts'
import { aMoment, newTurnId } from './background-test-support.ts'
import { ANN, startSilentRun, withReplicas, until } from './replica-cluster.ts'

describe.concurrent('recovery of the runs of a dead replica', () => {
  test('a background run without output is restarted if its replica dies', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const lost = await startSilentRun(cluster, first)
      first.kill()
      const before = await cluster.turn(lost)
      const second = await cluster.startReplica()
      const text = cluster.follow(second, lost)
      const turn = await until(async () => {
        const turn = await cluster.turn(lost)
        return turn?.state === 'complete' && turn
      })
      expect(turn).toMatchObject({ ...ANN, replicaId: second.id, createdAtMs: before?.createdAtMs })
      const messages = decodeFrames(await text)
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.filter(({ event }) => event === 'response.queued')).toHaveLength(1)
      expect(messages.slice(0, -1)).toEqual(await cluster.events(lost))
    }))

  test('a background run with output is ended as failed if its replica dies', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const id = await cluster.startRun(first, '/think Hm.\n/repeat 10 word\n/hang')
      await until(async () => (await cluster.turn(id))?.output.length === 2)
      first.kill()
      const before = await cluster.events(id)
      const second = await cluster.startReplica()
      const messages = decodeFrames(await cluster.follow(second, id))
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.slice(0, before.length)).toEqual(before)
      expect(messages.at(-2)?.event).toBe('response.failed')
      const turn = await cluster.turn(id)
      expect(turn).toMatchObject({ state: 'failed', failure: { code: 'internal_error' } })
      expect(turn?.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    }))

  test('a background run whose replicas die again and again is sent three times, and then ended as failed', () =>
    withReplicas(async (cluster) => {
      const { shared } = cluster
      // No replica's upstream answers.
      const reply = new Promise<never>(() => undefined)
      Object.assign(shared, { transport: () => ({ reply, cancel: () => undefined }) })
      const first = await cluster.startReplica()
      const id = await cluster.startRun(first, 'Hello')
      const replicas = [first]
      for (let tries = 0; tries < 6; tries += 1) {
        const replica = replicas.at(-1) ?? first
        const hasStartedOrEnded = async () =>
          replica.sent().length > 0 || (await cluster.turn(id))?.state === 'failed'
        await until(hasStartedOrEnded)
        if (replica.sent().length === 0) break
        replica.kill()
        await shared.runs.retireReplica(replica.id)
        replicas.push(await cluster.startReplica())
      }
      expect(replicas.map((replica) => replica.sent().length)).toEqual([1, 1, 1, 0])
      expect(await cluster.turn(id)).toMatchObject({ state: 'failed', output: [] })
    }))

  test('an answer that is no background run is ended as failed if its replica dies', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const turn = newTurn({ id: newTurnId(), ...ANN, replicaId: first.id })
      await first.world.store.openTurn(turn)
      first.kill()
      await cluster.startReplica()
      const ended = await until(async () => {
        const ended = await cluster.turn(`resp_${turn.id}`)
        return ended?.state !== 'open' && ended
      })
      expect(ended).toMatchObject({ state: 'failed', failure: { status: 500 } })
    }))

  test('each background run of a dead replica is restarted by exactly one other replica', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const lost = await Promise.all(
        Array.from({ length: 8 }, () => startSilentRun(cluster, first)),
      )
      first.kill()
      await Promise.all([cluster.startReplica(), cluster.startReplica(), cluster.startReplica()])
      for (const id of lost) {
        await until(async () => (await cluster.turn(id))?.state === 'complete')
        const messages = [...(await cluster.events(id)), { data: '[DONE]' }]
        expect(responsesFaults(messages)).toEqual([])
      }
      const again = cluster.shared.logged.filter((event) => event === 'run-again')
      expect(again).toHaveLength(lost.length)
    }))

  test('a replica whose lease had expired writes nothing to a run that another replica has claimed, and cancels its upstream request', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const id = await cluster.startRun(first, '/repeat 3 word\n/hang')
      await until(async () => (await cluster.turn(id))?.output.length === 1)
      // The lease expires while the replica lives, and another replica takes over its run.
      const { runs } = cluster.shared
      const turnId = id.slice('resp_'.length)
      await runs.renewReplica('R9', 60_000, Date.now())
      await until(async () => {
        await runs.retireReplica(first.id)
        return runs.claimRun({ turnId, ...ANN, replicaId: first.id }, 'R9')
      })
      await until(async () => first.cancelled() > 0)
      expect(await cluster.turn(id)).toMatchObject({ state: 'open', replicaId: 'R9' })
    }))
})

describe.concurrent('runs of a replica that shuts down', () => {
  test('a replica that shuts down waits for its runs to finish', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const id = await cluster.startRun(first, '/repeat 50 word')
      await first.runs.shutDown(5_000)
      expect((await cluster.turn(id))?.state).toBe('complete')
    }))

  test('a replica that shuts down ends slow runs as failed, except runs without output, which another replica restarts', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const told = await cluster.startRun(first, '/repeat 3 word\n/hang')
      const untold = await startSilentRun(cluster, first)
      await until(async () => (await cluster.turn(told))?.output.length === 1)
      await first.runs.shutDown(0)
      await first.runs.releaseLease()
      expect(await cluster.turn(told)).toMatchObject({ state: 'failed' })
      expect((await cluster.turn(untold))?.state).toMatch(/queued|open/)
      const second = await cluster.startReplica()
      await until(async () => (await cluster.turn(untold))?.state === 'complete')
      expect((await cluster.turn(untold))?.replicaId).toBe(second.id)
    }))
})

describe.concurrent('runs that are owned by another replica', () => {
  test('a client gets the events of a run of another replica while the run continues', () =>
    withReplicas(async (cluster) => {
      const [first, second] = [await cluster.startReplica(), await cluster.startReplica()]
      const id = await cluster.startRun(first, '/repeat 150 word')
      const messages = decodeFrames(await cluster.follow(second, id))
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.slice(0, -1)).toEqual(await cluster.events(id))
    }))

  test('cancelling a run of another replica cancels its upstream request too', () =>
    withReplicas(async (cluster) => {
      const [first, second] = [await cluster.startReplica(), await cluster.startReplica()]
      const id = await cluster.startRun(first, '/repeat 3 word\n/hang')
      await until(async () => (await cluster.turn(id))?.output.length === 1)
      const follower = cluster.follow(first, id)
      expect(await cluster.cancel(second, id)).toMatchObject({ status: 'cancelled' })
      const log = await cluster.events(id)
      await until(async () => first.cancelled() > 0)
      expect(decodeFrames(await follower).slice(0, -1)).toEqual(log)
      expect(await cluster.events(id)).toEqual(log)
      expect(jsonOf(log.at(-1) ?? { data: '{}' })).toMatchObject({
        type: 'response.failed',
        response: { status: 'cancelled', error: null },
      })
    }))

  test('if a run is cancelled while it ends, its state, its events and the response to the cancellation agree', () =>
    withReplicas(async (cluster) => {
      const [first, second] = [await cluster.startReplica(), await cluster.startReplica()]
      const states = new Set<string>()
      for (let words = 1; words <= 24; words += 1) {
        const id = await cluster.startRun(first, `/repeat ${words} w`)
        await aMoment(words * 2)
        const answer = await cluster.cancel(second, id).catch(() => null)
        const state = await until(async () => {
          const { state } = (await cluster.turn(id)) ?? {}
          return state !== 'queued' && state !== 'open' && state
        })
        expect(state).toBe(answer === null ? 'complete' : 'cancelled')
        const events = await cluster.events(id)
        const ends = events.filter(({ event }) => /\.(completed|failed)$/.test(event ?? ''))
        expect(ends.map(jsonOf)).toMatchObject([
          { response: { status: answer === null ? 'completed' : 'cancelled' } },
        ])
        states.add(state)
      }
      expect(states.size).toBeGreaterThan(0)
    }))
})

test('if a replica could not store the end of an answer, it later ends the answer as failed', () =>
  withReplicas(async (cluster) => {
    const first = await cluster.startReplica()
    const turn = newTurn({ id: newTurnId(), ...ANN, replicaId: first.id })
    await first.world.store.openTurn(turn)
    first.world.replica.reportUnclosedTurn({ turnId: turn.id, ...ANN })
    await until(async () => (await cluster.turn(`resp_${turn.id}`))?.state === 'failed')
  }))
