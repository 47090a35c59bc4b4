/** What an upstream answers, read up to its terminal event. */
import { expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { createFailure, GatewayError } from '../../../src/core/errors/gateway-error.ts'
import { createDecodedEventSource } from '../../../src/gateway/send/end-stream-at-terminal-event.ts'
import type { PushSink } from '../../../src/core/stream/push-source.ts'
import { begun, ENDED, message, said, STARTED } from '../said.ts'

const CLOSED: readonly StreamEvent[] = [
  { type: 'item-ended', index: 0, item: message('a') },
  { type: 'answer-failed', failure: createFailure('upstream_broken', 'It ended early.') },
]
const utf8 = new TextEncoder()

/** Each chunk is a list of events; `?` cannot be read. */
function reading() {
  const seen: string[] = []
  let body!: PushSink
  const answer = createDecodedEventSource(
    {
      flow(sink) {
        body = sink
        return { pause: () => void seen.push('pause'), resume: () => void seen.push('resume') }
      },
      cancel: () => void seen.push('cancel'),
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
    chunk: (events) => void seen.push(...events.map(({ type }) => type)),
    end: () => void seen.push('end'),
    failed: ({ message: why }) => void seen.push(`failed: ${why}`),
  })
  return {
    seen,
    answer,
    flow,
    say: (...events: readonly StreamEvent[]) => body.chunk(utf8.encode(JSON.stringify(events))),
    garble: () => body.chunk(utf8.encode('?')),
    end: () => body.end(),
    fail: () => body.failed(createFailure('upstream_broken', 'cut')),
  }
}

test('ends with its last word, and the rest of the body is let go by', () => {
  const { seen, answer, say, end } = reading()
  say(STARTED)
  say(ENDED)
  say(begun())
  end()
  expect(seen).toEqual(['answer-started', 'answer-ended', 'resume', 'end'])
  expect(answer.end()).toEqual([])
})

test('ends with its body, however that ends', () => {
  const { seen, say, end } = reading()
  say(STARTED, begun(), said('a'))
  end()
  expect(seen.slice(3)).toEqual(['item-ended', 'answer-failed', 'resume', 'end'])
})

test('that breaks leaves to others how what is open ends', () => {
  const { seen, answer, say, fail } = reading()
  say(STARTED, begun(), said('a'))
  fail()
  expect(seen.slice(3)).toEqual(['failed: cut'])
  expect(answer.end()).toEqual(CLOSED)
})

test('that cannot be read is told before it is cancelled, and once', () => {
  const { seen, garble, fail } = reading()
  garble()
  fail()
  garble()
  expect(seen).toEqual(['failed: unreadable', 'cancel'])
})

test('that is ended by who hears it says nothing more', () => {
  const { seen, answer, flow, say, end } = reading()
  flow.pause()
  say(STARTED, begun(), said('a'))
  expect(answer.end()).toEqual(CLOSED)
  expect(answer.end()).toEqual([])
  say(ENDED)
  end()
  expect(seen).toEqual(['pause', 'answer-started', 'item-started', 'text-delta'])
})
