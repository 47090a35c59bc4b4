import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  writeLogToClient,
  type LogFollower,
} from '../../../src/background/follow/write-log-to-client.ts'
import { createRunLog, type RunLog } from '../../../src/background/event-log/run-event-log.ts'
import type { OwnedRun } from '../../../src/store/background-runs/run-store-interface.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../../src/gateway/dependencies-interface.ts'
import { endRunEarly } from '../../../src/background/end-run-early.ts'
import { GATEWAY_STOPPED } from '../../../src/background/recover-orphaned-run.ts'
import { DatabaseError } from '../../../src/core/errors/database-error.ts'
import { decodeFrames } from '../../support/logs.ts'
import { createEnding } from '../../store/turns.ts'
import {
  aMoment,
  group,
  openRun,
  testClient,
  testWorld,
  type TestWorld,
} from '../background-test-support.ts'

let world: TestWorld
beforeAll(async () => {
  world = await testWorld()
  await world.runs.renewReplica('R1', 3_600_000, Date.now())
})
afterAll(() => world.close())
afterEach(() => void vi.restoreAllMocks())

const DONE = 'data: [DONE]\n\n'
const holdOf = ({ id, tenant, user }: NewTurn): OwnedRun => ({
  turnId: id,
  tenant,
  user,
  replicaId: 'R1',
})
const following = (turn: NewTurn, from = 0, live: RunLog | null = null): LogFollower => ({
  caller: turn,
  turnId: turn.id,
  firstEvent: from,
  liveLog: live,
  whenStarted: null,
  recover: () => Promise.reject(new Error('nobody is lost')),
})

/** Creates a log of `count` events in groups of `size`, ended or not. */
async function logged(count: number, size: number, isOver = true): Promise<NewTurn> {
  const turn = await openRun(world)
  for (let at = 0; at < count; at += size) {
    const last = Math.min(at + size, count) - 1
    await world.runs.recordRun(holdOf(turn), group(at, last), [])
  }
  if (isOver) await world.runs.endRun(holdOf(turn), createEnding(turn), null)
  return turn
}

function textFrom(from: number, to: number): string {
  return from <= to ? group(from, to).text : ''
}

describe('the stored log of a finished run', () => {
  test('a stored event log is written to the client from any event on, however its events are grouped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat({ max: 130 }),
        async (count, size, from) => {
          const turn = await logged(count, size)
          const { client, seen } = testClient()
          await writeLogToClient(following(turn, from), client, world)
          expect(seen.text).toBe(textFrom(from, count - 1) + DONE)
          expect(seen.ended).toBe(1)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('a stored event log is written to a slow client only as fast as the client reads', async () => {
    const turn = await logged(10, 2)
    const { client, seen, drain } = testClient(true)
    const read = vi.spyOn(world.runs, 'readLog')
    const over = writeLogToClient(following(turn), client, world)
    await aMoment()
    const before = seen.writes
    await aMoment()
    expect(seen.writes).toBe(before)
    expect(read).toHaveBeenCalledTimes(1)
    const draining = setInterval(drain, 1)
    await over
    clearInterval(draining)
    expect(seen.text).toBe(textFrom(0, 9) + DONE)
  })
})

describe('a run whose replica has died', () => {
  const created = { response: { id: 'resp_1', status: 'in_progress', output: [] } }
  const opening = `event: response.created\ndata: ${JSON.stringify({ type: 'response.created', ...created, sequence_number: 0 })}\n\n`

  async function orphanedRun(): Promise<NewTurn> {
    const turn = await openRun(world)
    await world.runs.recordRun(holdOf(turn), { first: 0, last: 0, text: opening }, [])
    await world.runs.claimRun(holdOf(turn), 'DEAD')
    return turn
  }

  test('a stream ends with a failure if the run cannot be recovered', async () => {
    const turn = await orphanedRun()
    const { client, seen } = testClient()
    let attempts = 0
    const recover = async (): Promise<void> => void (attempts += 1)
    await writeLogToClient({ ...following(turn), recover }, client, world)
    expect(attempts).toBe(5)
    const frames = decodeFrames(seen.text)
    expect(frames.map(({ event }) => event)).toEqual([
      'response.created',
      'error',
      'response.failed',
      undefined,
    ])
    expect(seen.text).toContain('cannot be stored')
    expect(seen.ended).toBe(1)
  })

  test('a run whose unfinished items the database rejects ends without them', async () => {
    const turn = await orphanedRun()
    const owned = { ...holdOf(turn), replicaId: 'DEAD' }
    const events = [
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'm', type: 'message', role: 'assistant', content: [] },
      },
      {
        type: 'response.content_part.added',
        item_id: 'm',
        output_index: 0,
        content_index: 0,
        part: { type: 'output_text', text: 'Half' },
      },
    ]
    const text = events
      .map(
        (event, at) =>
          `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at + 1 })}\n\n`,
      )
      .join('')
    await world.runs.recordRun(owned, { first: 1, last: 2, text }, [])
    const endRun = vi
      .spyOn(world.runs, 'endRun')
      .mockRejectedValueOnce(new DatabaseError(new Error('too big'), true))
    expect(await endRunEarly(owned, GATEWAY_STOPPED, world)).toBe(true)
    expect(endRun.mock.calls.map(([, { items }]) => items.length)).toEqual([1, 0])
    const { client, seen } = testClient()
    await writeLogToClient(following(turn), client, world)
    expect(seen.text).toContain('event: response.failed')
  })

  test('a database error that another try may overcome is passed on', async () => {
    const turn = await orphanedRun()
    vi.spyOn(world.runs, 'endRun').mockRejectedValue(new DatabaseError(new Error('away')))
    const ending = endRunEarly({ ...holdOf(turn), replicaId: 'DEAD' }, GATEWAY_STOPPED, world)
    await expect(ending).rejects.toThrow('away')
  })
})

describe('the log of a run in this process', () => {
  async function live(first = 0) {
    const turn = await logged(first, 5, false)
    const log = createRunLog(holdOf(turn), { firstEvent: first, openingEvents: null }, 1_000, world)
    const end = async (): Promise<void> => {
      await log.turnStore.closeTurn(createEnding(turn))
      log.client.end('')
      await log.whenOver
    }
    return { turn, log, end }
  }

  test('new events of a run in this process are written to the client without queries, once they are stored', async () => {
    const { turn, log, end } = await live()
    const read = vi.spyOn(world.runs, 'readLog')
    const { client, seen } = testClient()
    const over = writeLogToClient(following(turn, 0, log), client, world)
    log.client.write(group(0, 1).text)
    expect(seen.text).toBe('')
    await aMoment()
    expect(seen.text).toBe(textFrom(0, 1))
    log.client.write(group(2, 4).text)
    await end()
    await over
    expect(seen.text).toBe(textFrom(0, 4) + DONE)
    expect(read).not.toHaveBeenCalled()
  })

  test.each([0, 3, 7, 10, 12])(
    'a client that starts at event %i gets the stored and the new events without a gap',
    async (from) => {
      const { turn, log, end } = await live(10)
      const { client, seen } = testClient()
      const over = writeLogToClient(following(turn, from, log), client, world)
      for (let at = 10; at < 16; at += 1) {
        log.client.write(group(at, at).text)
        await aMoment(at % 2)
      }
      await end()
      await over
      expect(seen.text).toBe(textFrom(from, 15) + DONE)
    },
  )

  test('if a client does not read, events beyond 1 MiB are not buffered but read from the database', async () => {
    const { turn, log, end } = await live()
    const { client, seen, drain } = testClient(true)
    const over = writeLogToClient(following(turn, 0, log), client, world)
    log.client.write(group(0, 0).text)
    await aMoment()
    const large = 'x'.repeat(300_000)
    for (let at = 1; at <= 6; at += 1) {
      log.client.write(group(at, at, large).text)
      await aMoment(1)
    }
    await end()
    expect(seen.text).toBe(textFrom(0, 0))
    const read = vi.spyOn(world.runs, 'readLog')
    const draining = setInterval(drain, 1)
    await over
    clearInterval(draining)
    expect(read).toHaveBeenCalled()
    expect(seen.text).toBe(textFrom(0, 0) + group(1, 6, large).text + DONE)
  })

  test('if another replica takes over a run, a client that follows the run gets its further events', async () => {
    const { turn, log } = await live()
    const { client, seen } = testClient()
    const over = writeLogToClient(following(turn, 0, log), client, world)
    log.client.write(group(0, 1).text)
    await aMoment()
    await log.stopWriting()
    await world.runs.recordRun(holdOf(turn), group(2, 3), [])
    await world.runs.endRun(holdOf(turn), createEnding(turn), group(4, 4))
    await over
    expect(seen.text).toBe(textFrom(0, 4) + DONE)
  })

  test('a client that disconnects does not delay the run', async () => {
    const { turn, log, end } = await live()
    const { client, seen, leave } = testClient()
    const over = writeLogToClient(following(turn, 0, log), client, world)
    await aMoment()
    leave()
    await over
    log.client.write(group(0, 0).text)
    await end()
    expect(seen.text).toBe('')
    expect((await world.runs.readLog(turn, turn.id, 0))?.state).toBe('complete')
  })
})

describe('the log of a run on another replica', () => {
  test('if the turn of a run vanishes, the connection of its follower breaks instead of ending as if complete', async () => {
    const turn = await logged(2, 2, false)
    const { client, seen } = testClient()
    const abort = vi.fn<() => void>()
    const over = writeLogToClient(following(turn), { ...client, abort }, world)
    await aMoment()
    vi.spyOn(world.runs, 'readLog').mockResolvedValue(null)
    await over
    expect(abort).toHaveBeenCalledOnce()
    expect(seen.text).toBe(textFrom(0, 1))
    vi.restoreAllMocks()
  })

  test('a client gets all events of a run on another replica, up to its end', async () => {
    const turn = await logged(2, 2, false)
    const { client, seen } = testClient()
    const over = writeLogToClient(following(turn), client, world)
    await aMoment()
    expect(seen.text).toBe(textFrom(0, 1))
    await world.runs.recordRun(holdOf(turn), group(2, 3), [])
    await aMoment(250)
    expect(seen.text).toBe(textFrom(0, 3))
    await world.runs.endRun(holdOf(turn), createEnding(turn), group(4, 4))
    await over
    expect(seen.text).toBe(textFrom(0, 4) + DONE)
  })

  test('a run that a client follows is recovered if its replica is dead', async () => {
    const turn = await openRun(world, { replicaId: 'nobody' })
    const rescue = vi.fn(async () => {
      const hold = { ...holdOf(turn), replicaId: 'nobody' }
      await world.runs.endRun(hold, createEnding(turn, { state: 'failed' }), group(0, 0))
    })
    const { client, seen } = testClient()
    await writeLogToClient({ ...following(turn), recover: rescue }, client, world)
    expect(rescue).toHaveBeenCalledTimes(1)
    expect(seen.text).toBe(textFrom(0, 0) + DONE)
  })

  test('a client that follows a run gets the rest after the database was unreachable', async () => {
    const turn = await logged(2, 2)
    vi.spyOn(world.runs, 'readLog').mockRejectedValueOnce(new Error('down'))
    const { client, seen } = testClient()
    const over = writeLogToClient(following(turn), client, world)
    await over
    expect(seen.text).toBe(textFrom(0, 1) + DONE)
    expect(world.logged).toContain('log-not-read')
  })
})

test('a client that follows a run without new events gets heartbeats until the run ends', async () => {
  vi.useFakeTimers()
  const quick: GatewayDependencies = {
    ...world,
    settings: { ...world.settings, HEARTBEAT_SECONDS: 1 },
  }
  const turn = await logged(1, 1, false)
  const log = createRunLog(holdOf(turn), { firstEvent: 1, openingEvents: null }, 1_000, world)
  const { client, seen, leave } = testClient()
  const over = writeLogToClient(following(turn, 1, log), client, quick)
  await vi.advanceTimersByTimeAsync(2_500)
  expect(seen.text).toBe(': ping\n\n: ping\n\n')
  leave()
  await over
  await vi.advanceTimersByTimeAsync(5_000)
  expect(seen.writes).toBe(2)
  vi.useRealTimers()
})
