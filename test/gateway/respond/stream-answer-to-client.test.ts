import { describe, expect, test, vi } from 'vitest'
import type { Failure } from '../../../src/core/stream-event.ts'
import type { Outcome } from '../../../src/core/collect-answer-outcome.ts'
import type { ClientStream } from '../../../src/gateway/http-exchange-interface.ts'
import { createFailure, GatewayError } from '../../../src/core/errors/gateway-error.ts'
import type { PushSink } from '../../../src/core/stream/push-source-interface.ts'
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

/** The method of an echo writer that throws. */
type FailingMethod = 'push' | 'endBody' | 'abandon' | 'renderEnd'

/** Returns each text unchanged. `!` ends the answer, `|` ends it early, `?` is unreadable. */
function createEchoWriter(failing?: FailingMethod): ResponseWriter {
  const mayFail = (at: FailingMethod): void => {
    if (at === failing) throw new TypeError('unexpected')
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
    endBody(failure) {
      mayFail('endBody')
      failed = failure
      return '(closed)'
    },
    abandon: () => mayFail('abandon'),
    getOutcome: () => ({ ...EMPTY, failure: failed }),
    renderEnd({ failure }) {
      mayFail('renderEnd')
      return failure === null ? '(end)' : `(${failure.code})`
    },
  }
}

function startStream(
  options: { full?: boolean; heartbeatMs?: number; failing?: FailingMethod } = {},
) {
  const calls = { text: '', ended: 0, broken: 0, paused: 0, resumed: 0, cancelled: 0 }
  const logged: string[] = []
  const settled: { outcome: Outcome; ending: string }[] = []
  const laterWork: (() => Promise<unknown>)[] = []
  let sink!: PushSink
  let onDisconnect = (): void => undefined
  let isDisconnected = false
  let drain = (): void => undefined
  let release = (): void => undefined
  const stored = new Promise<void>((resolve) => (release = resolve))
  const client: ClientStream = {
    write(text) {
      calls.text += typeof text === 'string' ? text : new TextDecoder().decode(text)
      return options.full !== true
    },
    end(text) {
      calls.text += text
      calls.ended += 1
    },
    abort: () => void calls.broken++,
    isDisconnected: () => isDisconnected,
    onDrain: (callback) => void (drain = callback),
    onDisconnect: (callback) => void (onDisconnect = callback),
  }
  streamAnswerToClient({
    client,
    writer: createEchoWriter(options.failing),
    log: (level, event) => void logged.push(`${level} ${event}`),
    runLater: (work) => void laterWork.push(work),
    heartbeatMs: options.heartbeatMs ?? 60_000,
    source: {
      cancel: () => void calls.cancelled++,
      flow(to) {
        sink = to
        return { pause: () => void calls.paused++, resume: () => void calls.resumed++ }
      },
    },
    async settle(outcome, ending) {
      settled.push({ outcome, ending })
      await stored
      return outcome
    },
  })
  return {
    calls,
    settled,
    logged,
    push: (text: string) => sink.chunk(utf8.encode(text)),
    end: () => sink.end(),
    fail: () => sink.failed(createFailure('upstream_broken', 'cut')),
    markDisconnected: () => (isDisconnected = true),
    disconnect() {
      isDisconnected = true
      onDisconnect()
    },
    drain: () => drain(),
    /** Resolves after the turn is stored and the ending is written. */
    async finishStoring() {
      release()
      for (const work of laterWork.splice(0)) await work()
      await new Promise((resolve) => setTimeout(resolve, 0))
    },
  }
}

describe('the three endings of a streamed answer', () => {
  test('the ending of a finished answer waits until the turn is stored', async () => {
    const { push, end, calls, finishStoring } = startStream()
    push('a')
    end()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(calls.text).toBe('a(closed)')
    await finishStoring()
    expect(calls).toMatchObject({ text: 'a(closed)(end)', ended: 1, cancelled: 0 })
  })

  test('an answer finishes at its terminal event even if the upstream’s body stays open', async () => {
    const { push, end, calls, finishStoring, settled } = startStream()
    push('a!')
    await finishStoring()
    expect(calls.text).toBe('a!(closed)(end)')
    push('more')
    end()
    expect(settled).toHaveLength(1)
    expect(calls).toMatchObject({ text: 'a!(closed)(end)', ended: 1, cancelled: 0 })
  })

  test('if a filter ends an answer early, the answer finishes and the upstream is cancelled', async () => {
    const { push, fail, calls, finishStoring, settled } = startStream()
    push('a|')
    expect(calls.cancelled).toBe(1)
    fail()
    await finishStoring()
    expect(settled).toMatchObject([{ ending: 'finished', outcome: { failure: null } }])
    expect(calls).toMatchObject({ text: 'a|(closed)(end)', ended: 1, cancelled: 1 })
  })

  test('an answer that breaks off ends with one failure, and its partial outcome is stored', async () => {
    const { push, fail, calls, finishStoring, settled } = startStream()
    push('a')
    fail()
    fail()
    await finishStoring()
    expect(calls).toMatchObject({ text: 'a(closed)(upstream_broken)', ended: 1 })
    expect(settled).toMatchObject([{ ending: 'finished' }])
  })

  test('if the client disconnects, the upstream is cancelled and nothing more is written', async () => {
    const { push, disconnect, end, calls, finishStoring, settled } = startStream()
    push('a')
    disconnect()
    push('b')
    end()
    await finishStoring()
    expect(calls).toMatchObject({ text: 'a', ended: 0, cancelled: 1 })
    expect(settled).toMatchObject([{ ending: 'cancelled' }])
  })

  test('if many clients disconnect at once, all upstreams are cancelled before the first partial answer is stored', async () => {
    const streams = [startStream(), startStream(), startStream()]
    for (const { push } of streams) push('a')
    for (const { disconnect } of streams) disconnect()
    expect(streams.map(({ calls }) => calls.cancelled)).toEqual([1, 1, 1])
    expect(streams.map(({ settled }) => settled)).toEqual([[], [], []])
    for (const { finishStoring } of streams) await finishStoring()
    expect(streams.map(({ settled }) => settled.length)).toEqual([1, 1, 1])
  })

  test('if the client disconnects, the turn ends as cancelled even if the upstream’s failure is reported first', async () => {
    const { push, markDisconnected, fail, finishStoring, settled, calls } = startStream()
    push('a')
    markDisconnected()
    fail()
    await finishStoring()
    expect(settled).toMatchObject([{ ending: 'cancelled' }])
    expect(calls).toMatchObject({ text: 'a', ended: 0 })
  })

  test('an unreadable answer ends with a failure, and the upstream is cancelled', async () => {
    const { push, calls, finishStoring, logged } = startStream()
    push('?')
    await finishStoring()
    expect(calls).toMatchObject({ text: '(closed)(upstream_broken)', cancelled: 1 })
    expect(logged).toEqual([])
  })
})

describe('unexpected errors while an answer is streamed', () => {
  const UNEXPECTED = ['error unexpected']

  test('an unexpected error is logged and ends a partial answer with a failure of the gateway', async () => {
    const { push, calls, finishStoring, settled, logged } = startStream({ failing: 'push' })
    push('a')
    await finishStoring()
    expect(calls).toMatchObject({ text: '(closed)(internal_error)', ended: 1, cancelled: 1 })
    expect(settled).toMatchObject([{ outcome: { failure: { code: 'internal_error' } } }])
    expect(logged).toEqual(UNEXPECTED)
  })

  test.each(['endBody', 'renderEnd'] as const)(
    'the connection is aborted if %s of the writer throws, so that the answer does not look complete',
    async (failing) => {
      const { push, end, calls, finishStoring, settled, logged } = startStream({ failing })
      push('a')
      end()
      end()
      await finishStoring()
      expect(calls).toMatchObject({ ended: 0, broken: 1 })
      expect(settled).toHaveLength(1)
      if (failing === 'endBody') {
        expect(settled).toMatchObject([{ outcome: { finish: null } }])
        expect(settled).toMatchObject([{ outcome: { failure: { code: 'internal_error' } } }])
      }
      expect(logged).toEqual(UNEXPECTED)
    },
  )

  test('after a disconnect, the upstream is cancelled even if the writer throws', async () => {
    const { push, disconnect, calls, finishStoring, settled, logged } = startStream({
      failing: 'abandon',
    })
    push('a')
    disconnect()
    await finishStoring()
    expect(calls).toMatchObject({ text: 'a', ended: 0, cancelled: 1 })
    expect(settled).toMatchObject([{ ending: 'cancelled' }])
    expect(logged).toEqual(UNEXPECTED)
  })
})

test('a client with a full buffer pauses the upstream until it drains', () => {
  const { push, drain, calls } = startStream({ full: true })
  push('a')
  expect(calls).toMatchObject({ paused: 1, resumed: 0 })
  drain()
  expect(calls.resumed).toBe(1)
})

test('heartbeat comments are written only while nothing else is sent', async () => {
  vi.useFakeTimers()
  const { push, end, calls, finishStoring } = startStream({ heartbeatMs: 1000 })
  vi.advanceTimersByTime(1000)
  expect(calls.text).toBe(': ping\n\n')
  push('a')
  vi.advanceTimersByTime(1000)
  expect(calls.text).toBe(': ping\n\na')
  vi.advanceTimersByTime(1000)
  end()
  vi.useRealTimers()
  await finishStoring()
  expect(calls.text).toBe(': ping\n\na: ping\n\n(closed)(end)')
})
