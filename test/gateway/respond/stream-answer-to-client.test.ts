import { describe, expect, test, vi } from 'vitest'
import type { Failure } from '../../../src/core/stream-event.ts'
import type { Outcome } from '../../../src/core/fold-answer-outcome.ts'
import type { ClientStream } from '../../../src/gateway/http-exchange-interface.ts'
import { createFailure, GatewayError } from '../../../src/core/errors/gateway-error.ts'
import type { PushSink } from '../../../src/core/stream/push-source.ts'
import { streamAnswerToClient } from '../../../src/gateway/respond/stream-answer-to-client.ts'
import type { ResponseWriter } from '../../../src/gateway/respond/response-writer-interface.ts'

const EMPTY: Outcome = {
  items: [],
  finish: 'stop',
  failure: null,
  usage: null,
  upstreamId: null,
  model: null,
}
const utf8 = new TextEncoder()

/** Where an echo makes a mistake. */
type Mistaken = 'push' | 'close' | 'end'

/** Text in, the same text out; `!` is the last word, `|` cuts it off, `?` cannot be read. */
function echo(mistaken?: Mistaken): ResponseWriter {
  const mayFail = (at: Mistaken): void => {
    if (at === mistaken) throw new TypeError('a mistake')
  }
  let over = false
  let cut = false
  let failed: Failure | null = null
  return {
    push(chunk) {
      const text = new TextDecoder().decode(chunk)
      if (text === '?') throw new GatewayError('upstream_broken', 'unreadable')
      mayFail('push')
      cut ||= text.endsWith('|')
      over ||= cut || text.endsWith('!')
      return text
    },
    isOver: () => over,
    isCutShort: () => cut,
    close(failure) {
      mayFail('close')
      failed = failure
      return '(closed)'
    },
    outcome: () => ({ ...EMPTY, failure: failed }),
    end({ failure }) {
      mayFail('end')
      return failure === null ? '(end)' : `(${failure.code})`
    },
  }
}

function stage(options: { full?: boolean; heartbeatMs?: number; mistaken?: Mistaken } = {}) {
  const seen = { text: '', ended: 0, broken: 0, paused: 0, resumed: 0, cancelled: 0 }
  const logged: string[] = []
  const settled: { outcome: Outcome; ending: string }[] = []
  let sink!: PushSink
  let gone = (): void => undefined
  let isDisconnected = false
  let drain = (): void => undefined
  let release = (): void => undefined
  const safe = new Promise<void>((resolve) => (release = resolve))
  const client: ClientStream = {
    write(text) {
      seen.text += typeof text === 'string' ? text : new TextDecoder().decode(text)
      return options.full !== true
    },
    end(text) {
      seen.text += text
      seen.ended += 1
    },
    abort: () => void seen.broken++,
    isDisconnected: () => isDisconnected,
    onDrain: (callback) => void (drain = callback),
    onDisconnect: (callback) => void (gone = callback),
  }
  streamAnswerToClient({
    client,
    writer: echo(options.mistaken),
    log: (level, event) => void logged.push(`${level} ${event}`),
    heartbeatMs: options.heartbeatMs ?? 60_000,
    source: {
      cancel: () => void seen.cancelled++,
      flow(to) {
        sink = to
        return { pause: () => void seen.paused++, resume: () => void seen.resumed++ }
      },
    },
    async settle(outcome, ending) {
      settled.push({ outcome, ending })
      await safe
      return outcome
    },
  })
  return {
    seen,
    settled,
    logged,
    say: (text: string) => sink.chunk(utf8.encode(text)),
    end: () => sink.end(),
    fail: () => sink.failed(createFailure('upstream_broken', 'cut')),
    leave: () => (isDisconnected = true),
    hangUp() {
      isDisconnected = true
      gone()
    },
    drain: () => drain(),
    /** The outcome is safe, and whoever waited for it has run. */
    async safe() {
      release()
      await new Promise((resolve) => setTimeout(resolve, 0))
    },
  }
}

describe('the three endings', () => {
  test('finished: the last words wait until the outcome is safe', async () => {
    const { say, end, seen, safe } = stage()
    say('a')
    end()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(seen.text).toBe('a(closed)')
    await safe()
    expect(seen).toMatchObject({ text: 'a(closed)(end)', ended: 1, cancelled: 0 })
  })

  test('finished as soon as the upstream has said its last word, though its body stays open', async () => {
    const { say, end, seen, safe, settled } = stage()
    say('a!')
    await safe()
    expect(seen.text).toBe('a!(closed)(end)')
    say('more')
    end()
    expect(settled).toHaveLength(1)
    expect(seen).toMatchObject({ text: 'a!(closed)(end)', ended: 1, cancelled: 0 })
  })

  test('cut: an answer that is ended here is finished, and the upstream cancelled', async () => {
    const { say, fail, seen, safe, settled } = stage()
    say('a|')
    expect(seen.cancelled).toBe(1)
    fail()
    await safe()
    expect(settled).toMatchObject([{ ending: 'finished', outcome: { failure: null } }])
    expect(seen).toMatchObject({ text: 'a|(closed)(end)', ended: 1, cancelled: 1 })
  })

  test('broken off: one failure, and what had arrived is settled', async () => {
    const { say, fail, seen, safe, settled } = stage()
    say('a')
    fail()
    fail()
    await safe()
    expect(seen).toMatchObject({ text: 'a(closed)(upstream_broken)', ended: 1 })
    expect(settled).toMatchObject([{ ending: 'finished' }])
  })

  test('hung up: the upstream is cancelled, and nothing is written any more', async () => {
    const { say, hangUp, end, seen, safe, settled } = stage()
    say('a')
    hangUp()
    say('b')
    end()
    await safe()
    expect(seen).toMatchObject({ text: 'a', ended: 0, cancelled: 1 })
    expect(settled).toMatchObject([{ ending: 'cancelled' }])
  })

  test('hung up, and heard of as a failure upstream: it is a cancellation all the same', async () => {
    const { say, leave, fail, safe, settled, seen } = stage()
    say('a')
    leave()
    fail()
    await safe()
    expect(settled).toMatchObject([{ ending: 'cancelled' }])
    expect(seen).toMatchObject({ text: 'a', ended: 0 })
  })

  test('unreadable: the upstream is cancelled and the client told', async () => {
    const { say, seen, safe, logged } = stage()
    say('?')
    await safe()
    expect(seen).toMatchObject({ text: '(closed)(upstream_broken)', cancelled: 1 })
    expect(logged).toEqual([])
  })
})

describe('a mistake of ours is logged, and ends', () => {
  const UNEXPECTED = ['error unexpected']

  test('an answer in its middle: as a failure of the gateway, not of the upstream', async () => {
    const { say, seen, safe, settled, logged } = stage({ mistaken: 'push' })
    say('a')
    await safe()
    expect(seen).toMatchObject({ text: '(closed)(internal_error)', ended: 1, cancelled: 1 })
    expect(settled).toMatchObject([{ outcome: { failure: { code: 'internal_error' } } }])
    expect(logged).toEqual(UNEXPECTED)
  })

  test.each(['close', 'end'] as const)(
    'an answer at its %s: the connection breaks off, and nothing is told as whole',
    async (mistaken) => {
      const { say, end, seen, safe, settled, logged } = stage({ mistaken })
      say('a')
      end()
      end()
      await safe()
      expect(seen).toMatchObject({ ended: 0, broken: 1 })
      expect(settled).toHaveLength(1)
      if (mistaken === 'close') {
        expect(settled).toMatchObject([{ outcome: { finish: null } }])
        expect(settled).toMatchObject([{ outcome: { failure: { code: 'internal_error' } } }])
      }
      expect(logged).toEqual(UNEXPECTED)
    },
  )

  test('nothing that a client waits for, when it has hung up', async () => {
    const { say, hangUp, seen, safe, settled, logged } = stage({ mistaken: 'close' })
    say('a')
    hangUp()
    await safe()
    expect(seen).toMatchObject({ text: 'a', ended: 0, cancelled: 1 })
    expect(settled).toMatchObject([{ ending: 'cancelled' }])
    expect(logged).toEqual(UNEXPECTED)
  })
})

test('a full client holds the upstream back until it drains', () => {
  const { say, drain, seen } = stage({ full: true })
  say('a')
  expect(seen).toMatchObject({ paused: 1, resumed: 0 })
  drain()
  expect(seen.resumed).toBe(1)
})

test('silence is filled with comments, and only silence', async () => {
  vi.useFakeTimers()
  const { say, end, seen, safe } = stage({ heartbeatMs: 1000 })
  vi.advanceTimersByTime(1000)
  expect(seen.text).toBe(': ping\n\n')
  say('a')
  vi.advanceTimersByTime(1000)
  expect(seen.text).toBe(': ping\n\na')
  vi.advanceTimersByTime(1000)
  end()
  vi.useRealTimers()
  await safe()
  expect(seen.text).toBe(': ping\n\na: ping\n\n(closed)(end)')
})
