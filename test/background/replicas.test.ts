/** Several replicas on one database: a run that one leaves behind is ended or restarted by another. */
import { describe, expect, test } from 'vitest'
import { framesIn } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { jsonOf } from '../support/responses-kit.ts'
import { newTurn } from '../store/turns.ts'
import { aMoment, newTurnId } from './kit.ts'
import { ANN, beginInVain, inTown, until } from './town.ts'

describe.concurrent('a replica that dies', () => {
  test('has its runs without output restarted', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const lost = await beginInVain(town, first)
      first.die()
      const before = await town.turn(lost)
      const second = await town.citizen()
      const text = town.follow(second, lost)
      const turn = await until(async () => {
        const turn = await town.turn(lost)
        return turn?.state === 'complete' && turn
      })
      expect(turn).toMatchObject({ ...ANN, owner: second.id, createdAtMs: before?.createdAtMs })
      const messages = framesIn(await text)
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.filter(({ event }) => event === 'response.queued')).toHaveLength(1)
      expect(messages.slice(0, -1)).toEqual(await town.events(lost))
    }))

  test('has its runs with output ended as failed', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const id = await town.begin(first, '/think Hm.\n/repeat 10 word\n/hang')
      await until(async () => (await town.turn(id))?.output.length === 2)
      first.die()
      const before = await town.events(id)
      const second = await town.citizen()
      const messages = framesIn(await town.follow(second, id))
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.slice(0, before.length)).toEqual(before)
      expect(messages.at(-2)?.event).toBe('response.failed')
      const turn = await town.turn(id)
      expect(turn).toMatchObject({ state: 'failed', failure: { code: 'internal_error' } })
      expect(turn?.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    }))

  test('has its ordinary answers ended', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const turn = newTurn({ id: newTurnId(), ...ANN, owner: first.id })
      await first.world.store.openTurn(turn)
      first.die()
      await town.citizen()
      const ended = await until(async () => {
        const ended = await town.turn(`resp_${turn.id}`)
        return ended?.state !== 'open' && ended
      })
      expect(ended).toMatchObject({ state: 'failed', failure: { status: 500 } })
    }))

  test('has each run restarted by exactly one other replica', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const lost = await Promise.all(Array.from({ length: 8 }, () => beginInVain(town, first)))
      first.die()
      await Promise.all([town.citizen(), town.citizen(), town.citizen()])
      for (const id of lost) {
        await until(async () => (await town.turn(id))?.state === 'complete')
        const messages = [...(await town.events(id)), { data: '[DONE]' }]
        expect(responsesFaults(messages)).toEqual([])
      }
      const again = town.shared.logged.filter((event) => event === 'run-again')
      expect(again).toHaveLength(lost.length)
    }))

  test('and returns leaves its former runs to their new owner', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const id = await town.begin(first, '/repeat 3 word\n/hang')
      await until(async () => (await town.turn(id))?.output.length === 1)
      // The lease expires while the replica lives, and another replica takes over its run.
      const { runs } = town.shared
      const turnId = id.slice('resp_'.length)
      await runs.renewReplica('R9', Date.now(), Date.now() + 60_000)
      await until(async () => {
        await runs.retireReplica(first.id)
        return runs.takeRun({ turnId, ...ANN, owner: first.id }, 'R9')
      })
      await until(async () => first.cancelled() > 0)
      expect(await town.turn(id)).toMatchObject({ state: 'open', owner: 'R9' })
    }))
})

describe.concurrent('a replica that shuts down', () => {
  test('lets runs finish', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const id = await town.begin(first, '/repeat 50 word')
      await first.runs.close(5_000)
      expect((await town.turn(id))?.state).toBe('complete')
    }))

  test('ends slow runs and leaves runs without output to others', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const told = await town.begin(first, '/repeat 3 word\n/hang')
      const untold = await beginInVain(town, first)
      await until(async () => (await town.turn(told))?.output.length === 1)
      await first.runs.close(0)
      await first.runs.leave()
      expect(await town.turn(told)).toMatchObject({ state: 'failed' })
      expect((await town.turn(untold))?.state).toMatch(/queued|open/)
      const second = await town.citizen()
      await until(async () => (await town.turn(untold))?.state === 'complete')
      expect((await town.turn(untold))?.owner).toBe(second.id)
    }))
})

describe.concurrent('on another replica', () => {
  test('a run is followed live', () =>
    inTown(async (town) => {
      const [first, second] = [await town.citizen(), await town.citizen()]
      const id = await town.begin(first, '/repeat 150 word')
      const messages = framesIn(await town.follow(second, id))
      expect(responsesFaults(messages)).toEqual([])
      expect(messages.slice(0, -1)).toEqual(await town.events(id))
    }))

  test('a run and its upstream request are cancelled', () =>
    inTown(async (town) => {
      const [first, second] = [await town.citizen(), await town.citizen()]
      const id = await town.begin(first, '/repeat 3 word\n/hang')
      await until(async () => (await town.turn(id))?.output.length === 1)
      const follower = town.follow(first, id)
      expect(await town.cancel(second, id)).toMatchObject({ status: 'cancelled' })
      const log = await town.events(id)
      await until(async () => first.cancelled() > 0)
      expect(framesIn(await follower).slice(0, -1)).toEqual(log)
      expect(await town.events(id)).toEqual(log)
      expect(jsonOf(log.at(-1) ?? { data: '{}' })).toMatchObject({
        type: 'response.failed',
        response: { status: 'cancelled', error: null },
      })
    }))

  test('a concurrent cancel and end agree on the final state', () =>
    inTown(async (town) => {
      const [first, second] = [await town.citizen(), await town.citizen()]
      const states = new Set<string>()
      for (let words = 1; words <= 24; words += 1) {
        const id = await town.begin(first, `/repeat ${words} w`)
        await aMoment(words * 2)
        const answer = await town.cancel(second, id).catch(() => null)
        const state = await until(async () => {
          const { state } = (await town.turn(id)) ?? {}
          return state !== 'queued' && state !== 'open' && state
        })
        expect(state).toBe(answer === null ? 'complete' : 'cancelled')
        const events = await town.events(id)
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
  inTown(async (town) => {
    const first = await town.citizen()
    const turn = newTurn({ id: newTurnId(), ...ANN, owner: first.id })
    await first.world.store.openTurn(turn)
    first.world.replica.releaseTurn({ turnId: turn.id, ...ANN })
    await until(async () => (await town.turn(`resp_${turn.id}`))?.state === 'failed')
  }))
