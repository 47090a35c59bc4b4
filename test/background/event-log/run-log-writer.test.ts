import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createRunLogWriter,
  type RunLogBatch,
} from '../../../src/background/event-log/run-log-writer.ts'
import type { PlacedItem } from '../../../src/store/turns/turn-store-interface.ts'

const ITEM: PlacedItem = { position: 0, item: { type: 'message', role: 'assistant', content: [] } }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A slow database, and everything that the writer reported. */
function stage(options: { fails?: number; refuses?: boolean; patienceMs?: number } = {}) {
  const batches: RunLogBatch<string>[] = []
  const heard: string[] = []
  let failures = options.fails ?? 0
  const behind = createRunLogWriter<string>({
    firstEvent: 0,
    retryTimeoutMs: options.patienceMs ?? 1_000,
    async write(batch) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      if (failures-- > 0) throw new Error('down')
      batches.push(batch)
      return options.refuses !== true
    },
    onWritten: ({ events }) =>
      void heard.push(events === null ? '-' : `${events.first}-${events.last}`),
    onGaveUp: () => void heard.push('refused'),
    onRoom: () => void heard.push('room'),
    onWriteError: () => void heard.push('warned'),
  })
  let next = 0
  return {
    batches,
    heard,
    behind,
    say: (text: string, count = 1) => behind.addEvents(text, (next += count)),
  }
}

describe("batches of events in a run's log", () => {
  test('the writer of an event log writes the first events immediately and later events in batches', async () => {
    const { say, batches } = stage()
    for (const word of ['a', 'b', 'c']) say(word)
    await vi.advanceTimersByTimeAsync(99)
    expect(batches.map(({ events }) => events)).toEqual([{ first: 0, last: 0, text: 'a' }])
    await vi.advanceTimersByTimeAsync(20)
    expect(batches[1]?.events).toEqual({ first: 1, last: 2, text: 'bc' })
    await vi.advanceTimersByTimeAsync(1_000)
    say('d')
    await vi.advanceTimersByTimeAsync(10)
    expect(batches[2]?.events).toEqual({ first: 3, last: 3, text: 'd' })
  })

  test('the writer of an event log writes a large batch earlier, but only one batch at a time', async () => {
    const { say, batches } = stage()
    say('a')
    say('x'.repeat(70_000))
    say('b')
    await vi.advanceTimersByTimeAsync(19)
    expect(batches).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(batches[1]?.events).toMatchObject({ first: 1, last: 2 })
  })

  test('the writer of an event log reports when too many events accumulate and when there is room again', async () => {
    const { say, heard } = stage()
    say('a')
    expect(say('x'.repeat(2_000_000))).toBe(false)
    await vi.advanceTimersByTimeAsync(20)
    expect(heard).toContain('room')
    expect(say('b')).toBe(true)
  })

  test('the writer of an event log reports events only after they are stored', async () => {
    const { say, heard } = stage()
    say('a')
    await vi.advanceTimersByTimeAsync(9)
    expect(heard).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(heard).toEqual(['0-0', 'room'])
  })
})

test('the writer of an event log writes items together with events, or alone if there are no events', async () => {
  const { say, behind, batches } = stage()
  say('a')
  behind.addItem(ITEM)
  say('b')
  await vi.advanceTimersByTimeAsync(110)
  expect(batches[1]).toEqual({
    events: { first: 1, last: 1, text: 'b' },
    items: [ITEM],
    ending: null,
  })
  behind.addItem(ITEM)
  await vi.advanceTimersByTimeAsync(110)
  expect(batches[2]).toEqual({ events: null, items: [ITEM], ending: null })
})

test('the writer of an event log writes the ending and all waiting events immediately, as the last batch', async () => {
  const { say, behind, batches } = stage()
  say('a')
  say('b')
  behind.end('over')
  await vi.advanceTimersByTimeAsync(20)
  expect(batches[1]).toEqual({
    events: { first: 1, last: 1, text: 'b' },
    items: [],
    ending: 'over',
  })
  say('c')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(batches).toHaveLength(2)
})

describe('log writes while the database is unreachable', () => {
  test('the writer of an event log retries a failed write without losing or repeating events', async () => {
    const { say, heard, batches } = stage({ fails: 2 })
    say('a')
    say('b')
    await vi.advanceTimersByTimeAsync(700)
    expect(batches.map(({ events }) => events?.text)).toEqual(['a', 'b'])
    expect(heard).toEqual(['warned', 'warned', '0-0', 'room', '1-1', 'room'])
  })

  test('the writer of an event log gives up if retries fail for too long', async () => {
    const { say, heard, batches } = stage({ fails: 99, patienceMs: 600 })
    say('a')
    await vi.advanceTimersByTimeAsync(2_000)
    expect(heard.at(-2)).toBe('refused')
    say('b')
    await vi.advanceTimersByTimeAsync(2_000)
    expect(batches).toEqual([])
  })
})

test('the writer of an event log gives up if the run belongs to another replica', async () => {
  const { say, heard, batches } = stage({ refuses: true })
  say('a')
  say('b')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(batches).toHaveLength(1)
  expect(heard[0]).toBe('refused')
})

test('stopping the writer of an event log waits for the current write and starts no other', async () => {
  const { say, behind, batches, heard } = stage()
  say('a')
  say('b')
  const stopped = behind.stop()
  await vi.advanceTimersByTimeAsync(10)
  await stopped
  await vi.advanceTimersByTimeAsync(1_000)
  expect(batches).toHaveLength(1)
  expect(heard).toEqual([])
})
