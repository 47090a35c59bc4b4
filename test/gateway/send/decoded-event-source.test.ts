/** An event source that reads an upstream body up to its terminal event. */
import { expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { createFailure, GatewayError } from '../../../src/core/errors/gateway-error.ts'
import { createDecodedEventSource } from '../../../src/gateway/send/decoded-event-source.ts'
import type { PushSink } from '../../../src/core/stream/push-source-interface.ts'
import { messageStarted, ENDED, message, textDelta, STARTED } from '../said.ts'

const CLOSED: readonly StreamEvent[] = [
  { type: 'item-ended', index: 0, item: message('a') },
  { type: 'answer-failed', failure: createFailure('upstream_broken', 'It ended early.') },
]
const utf8 = new TextEncoder()

/** Each chunk is a JSON list of events; `?` is unreadable. */
function startReading() {
  const log: string[] = []
  let body!: PushSink
  const answer = createDecodedEventSource(
    {
      flow(sink) {
        body = sink
        return { pause: () => void log.push('pause'), resume: () => void log.push('resume') }
      },
      cancel: () => void log.push('cancel'),
    },
    {
      push(chunk) {
        const text = new TextDecoder().decode(chunk)
        if (text === '?') throw new GatewayError('upstream_broken', 'unreadable')
        return JSON.parse(text) as StreamEvent[]
      },
      end: () => CLOSED,
    },
    () => undefined,
  )
  const flow = answer.flow({
    chunk: (events) => void log.push(...events.map(({ type }) => type)),
    end: () => void log.push('end'),
    failed: ({ message: reason }) => void log.push(`failed: ${reason}`),
  })
  return {
    log,
    answer,
    flow,
    send: (...events: readonly StreamEvent[]) => body.chunk(utf8.encode(JSON.stringify(events))),
    sendUnreadable: () => body.chunk(utf8.encode('?')),
    end: () => body.end(),
    fail: () => body.failed(createFailure('upstream_broken', 'cut')),
  }
}

test('the events of a body end at the terminal event, and the rest of the body is ignored', () => {
  const { log, answer, send, end } = startReading()
  send(STARTED)
  send(ENDED)
  send(messageStarted())
  end()
  expect(log).toEqual(['answer-started', 'answer-ended', 'resume', 'end'])
  expect(answer.end()).toEqual([])
})

test('if a body ends without a terminal event, its events end with the last ones of the decoder', () => {
  const { log, send, end } = startReading()
  send(STARTED, messageStarted(), textDelta('a'))
  end()
  expect(log.slice(3)).toEqual(['item-ended', 'answer-failed', 'resume', 'end'])
})

test('if a body breaks off, its failure is reported, and the open items are closed only by end()', () => {
  const { log, answer, send, fail } = startReading()
  send(STARTED, messageStarted(), textDelta('a'))
  fail()
  expect(log.slice(3)).toEqual(['failed: cut'])
  expect(answer.end()).toEqual(CLOSED)
})

test('unreadable events of a body are reported once, before the body is cancelled', () => {
  const { log, sendUnreadable, fail } = startReading()
  sendUnreadable()
  fail()
  sendUnreadable()
  expect(log).toEqual(['failed: unreadable', 'cancel'])
})

test('no events of a body follow after the reader has ended the answer', () => {
  const { log, answer, flow, send, end } = startReading()
  flow.pause()
  send(STARTED, messageStarted(), textDelta('a'))
  expect(answer.end()).toEqual(CLOSED)
  expect(answer.end()).toEqual([])
  send(ENDED)
  end()
  expect(log).toEqual(['pause', 'answer-started', 'item-started', 'text-delta'])
})
