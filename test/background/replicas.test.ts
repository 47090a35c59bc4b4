/** Several replicas on one database: a run that one leaves behind is ended or restarted by another. */
import { describe, expect, test } from 'vitest'
import { framesIn } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { jsonOf } from '../support/responses-kit.ts'
import { newTurn } from '../store/turns.ts'
import { aMoment, newTurnId } from './kit.ts'
import { ANN, startSilentRun, withReplicas, until } from './town.ts'

describe.concurrent('a replica that dies', () => {
  test('has its runs without output restarted', () =>
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
      expect(turn).toMatchObject({ ...ANN, owner: second.id, createdAtMs: before?.createdAtMs })
      const messages = framesIn(await text)
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.filter(({ event }) => event === 'response.queued')).toHaveLength(1)
      expect(messages.slice(0, -1)).toEqual(await cluster.events(lost))
    }))

  test('has its runs with output ended as failed', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const id = await cluster.startRun(first, '/think Hm.\n/repeat 10 word\n/hang')
      await until(async () => (await cluster.turn(id))?.output.length === 2)
      first.kill()
      const before = await cluster.events(id)
      const second = await cluster.startReplica()
      const messages = framesIn(await cluster.follow(second, id))
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.slice(0, before.length)).toEqual(before)
      expect(messages.at(-2)?.event).toBe('response.failed')
      const turn = await cluster.turn(id)
      expect(turn).toMatchObject({ state: 'failed', failure: { code: 'internal_error' } })
      expect(turn?.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    }))

  test('has its ordinary answers ended', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const turn = newTurn({ id: newTurnId(), ...ANN, owner: first.id })
      await first.world.store.openTurn(turn)
      first.kill()
      await cluster.startReplica()
      const ended = await until(async () => {
        const ended = await cluster.turn(`resp_${turn.id}`)
        return ended?.state !== 'open' && ended
      })
      expect(ended).toMatchObject({ state: 'failed', failure: { status: 500 } })
    }))

  test('has each run restarted by exactly one other replica', () =>
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

  test('and returns leaves its former runs to their new owner', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const id = await cluster.startRun(first, '/repeat 3 word\n/hang')
      await until(async () => (await cluster.turn(id))?.output.length === 1)
      // The lease expires while the replica lives, and another replica takes over its run.
      const { runs } = cluster.shared
      const turnId = id.slice('resp_'.length)
      await runs.renewReplica('R9', Date.now(), Date.now() + 60_000)
      await until(async () => {
        await runs.retireReplica(first.id)
        return runs.takeRun({ turnId, ...ANN, owner: first.id }, 'R9')
      })
      await until(async () => first.cancelled() > 0)
      expect(await cluster.turn(id)).toMatchObject({ state: 'open', owner: 'R9' })
    }))
})

describe.concurrent('a replica that shuts down', () => {
  test('lets runs finish', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const id = await cluster.startRun(first, '/repeat 50 word')
      await first.runs.close(5_000)
      expect((await cluster.turn(id))?.state).toBe('complete')
    }))

  test('ends slow runs and leaves runs without output to others', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const told = await cluster.startRun(first, '/repeat 3 word\n/hang')
      const untold = await startSilentRun(cluster, first)
      await until(async () => (await cluster.turn(told))?.output.length === 1)
      await first.runs.close(0)
      await first.runs.leave()
      expect(await cluster.turn(told)).toMatchObject({ state: 'failed' })
      expect((await cluster.turn(untold))?.state).toMatch(/queued|open/)
      const second = await cluster.startReplica()
      await until(async () => (await cluster.turn(untold))?.state === 'complete')
      expect((await cluster.turn(untold))?.owner).toBe(second.id)
    }))
})

describe.concurrent('on another replica', () => {
  test('a run is followed live', () =>
    withReplicas(async (cluster) => {
      const [first, second] = [await cluster.startReplica(), await cluster.startReplica()]
      const id = await cluster.startRun(first, '/repeat 150 word')
      const messages = framesIn(await cluster.follow(second, id))
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.slice(0, -1)).toEqual(await cluster.events(id))
    }))

  test('a run and its upstream request are cancelled', () =>
    withReplicas(async (cluster) => {
      const [first, second] = [await cluster.startReplica(), await cluster.startReplica()]
      const id = await cluster.startRun(first, '/repeat 3 word\n/hang')
      await until(async () => (await cluster.turn(id))?.output.length === 1)
      const follower = cluster.follow(first, id)
      expect(await cluster.cancel(second, id)).toMatchObject({ status: 'cancelled' })
      const log = await cluster.events(id)
      await until(async () => first.cancelled() > 0)
      expect(framesIn(await follower).slice(0, -1)).toEqual(log)
      expect(await cluster.events(id)).toEqual(log)
      expect(jsonOf(log.at(-1) ?? { data: '{}' })).toMatchObject({
        type: 'response.failed',
        response: { status: 'cancelled', error: null },
      })
    }))

  test('a concurrent cancel and end agree on the final state', () =>
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

test('an answer whose end could not be stored is ended later by the same replica', () =>
  withReplicas(async (cluster) => {
    const first = await cluster.startReplica()
    const turn = newTurn({ id: newTurnId(), ...ANN, owner: first.id })
    await first.world.store.openTurn(turn)
    first.world.replica.releaseTurn({ turnId: turn.id, ...ANN })
    await until(async () => (await cluster.turn(`resp_${turn.id}`))?.state === 'failed')
  }))
