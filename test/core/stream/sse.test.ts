import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatSseMessage,
  createSseDecoder,
  createSseBoundaryBuffer,
  type SseMessage,
} from '../../../src/core/stream/sse.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'

const utf8 = new TextEncoder()
const plain = new TextDecoder()

function decode(...chunks: readonly (string | Uint8Array)[]): SseMessage[] {
  return runStage(
    createSseDecoder(),
    chunks.map((chunk) => (typeof chunk === 'string' ? utf8.encode(chunk) : chunk)),
  )
}

/** Splits the bytes at the given positions. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const borders = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  )
  return borders.slice(1).map((end, at) => bytes.slice(borders[at], end))
}

const anyMessage = fc.record({
  event: fc.constantFrom(undefined, 'response.created'),
  data: fc.string({ unit: 'binary', minLength: 1 }).map((text) => JSON.stringify(text)),
})
const anyEnding = fc.constantFrom('\n', '\r\n', '\r')
const anyCuts = fc.array(fc.nat(10_000), { maxLength: 8 })

describe('decoding of server-sent events', () => {
  test('the decoder of server-sent events accepts every line ending, comments, and `data` before `event`', () => {
    const wanted = [{ event: 'a', data: '1' }]
    expect(decode('event: a\ndata: 1\n\n')).toEqual(wanted)
    expect(decode('event: a\r\ndata: 1\r\n\r\n')).toEqual(wanted)
    expect(decode('event: a\rdata: 1\r\r')).toEqual(wanted)
    expect(decode(': hi\ndata:1\nevent:a\n\n')).toEqual(wanted)
  })

  test('the decoder of server-sent events reads a last event without a blank line', () => {
    expect(decode('data: [DONE]')).toEqual([{ data: '[DONE]' }])
  })

  test('the decoder of server-sent events reads the same events for any split of the bytes', () => {
    fc.assert(
      fc.property(fc.array(anyMessage), anyEnding, anyCuts, (messages, ending, places) => {
        const bytes = utf8.encode(messages.map(formatSseMessage).join('').replaceAll('\n', ending))
        expect(decode(...cut(bytes, places))).toEqual(messages)
      }),
    )
  })

  test('the decoder of server-sent events rejects an endless event before it fills the memory', () => {
    const sse = createSseDecoder(1000)
    const line = utf8.encode('data: ' + 'x'.repeat(100))
    expect(() => {
      for (let at = 0; at < 20; at++) sse.push(line)
    }).toThrow('does not end')
    const whole = createSseBoundaryBuffer(1000)
    expect(() => {
      for (let at = 0; at < 20; at++) whole.push(line)
    }).toThrow('does not end')
  })
})

describe('buffering of server-sent events up to the end of an event', () => {
  test('the SSE boundary buffer forwards only complete events, and none is lost or repeated', () => {
    fc.assert(
      fc.property(fc.array(anyMessage), anyEnding, anyCuts, (messages, ending, places) => {
        const text = messages.map(formatSseMessage).join('').replaceAll('\n', ending)
        const whole = createSseBoundaryBuffer()
        let through = ''
        for (const chunk of cut(utf8.encode(text), places)) {
          through += plain.decode(whole.push(chunk))
          expect(through === '' || through.endsWith(ending + ending)).toBe(true)
        }
        expect(through + plain.decode(whole.rest())).toBe(text)
      }),
    )
  })

  test('the SSE boundary buffer returns an incomplete event only at the end', () => {
    const whole = createSseBoundaryBuffer()
    expect(plain.decode(whole.push(utf8.encode('data: 1\n\ndata: 2')))).toBe('data: 1\n\n')
    expect(plain.decode(whole.push(utf8.encode('2\n')))).toBe('')
    expect(plain.decode(whole.push(utf8.encode('\ndata: 3\n\n')))).toBe('data: 22\n\ndata: 3\n\n')
  })

  test('the SSE boundary buffer forwards a chunk that ends with an event as the same bytes', () => {
    const chunk = utf8.encode('data: 1\n\n')
    expect(createSseBoundaryBuffer().push(chunk)).toBe(chunk)
  })
})

test('data with several lines is formatted as a server-sent event with the same lines', () => {
  const message = { data: 'a\nb' }
  expect(decode(formatSseMessage(message))).toEqual([message])
})
