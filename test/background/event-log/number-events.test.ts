import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createEventNumbering } from '../../../src/background/event-log/number-events.ts'
import { formatSseMessage, type SseMessage } from '../../../src/core/stream/sse.ts'
import { decodeFrames } from '../../support/logs.ts'
import { answer } from '../../support/responses-answers.ts'
import { answeringTo, jsonOf, recordedStreams, renderEvents } from '../../support/responses-kit.ts'
import { sharedExists } from '../../support/shared-files.ts'

function numbered(pieces: readonly (string | Uint8Array)[], first = 0) {
  const { push, nextNumber } = createEventNumbering(first)
  const text = pieces.map(push).join('')
  return {
    text,
    next: nextNumber(),
    numbers: decodeFrames(text).map((m) => jsonOf(m)['sequence_number']),
  }
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, at) => from + at)
}

function eventOf(type: string, fields: object = {}): SseMessage {
  return { event: type, data: JSON.stringify({ type, ...fields }) }
}

describe('numbering of rendered events', () => {
  test('rendered events keep their numbers and bytes, however their text is split, and [DONE] is removed', () => {
    fc.assert(
      fc.property(answer, fc.infiniteStream(fc.integer({ min: 1, max: 4 })), (events, sizes) => {
        const frames = renderEvents(events).map(formatSseMessage)
        const pieces: string[] = []
        for (let at = 0; at < frames.length;) {
          const size = sizes.next().value as number
          pieces.push(frames.slice(at, (at += size)).join(''))
        }
        const { text, next } = numbered(pieces)
        expect(text).toBe(frames.slice(0, -1).join(''))
        expect(next).toBe(frames.length - 1)
      }),
      { numRuns: 100 },
    )
  })

  test('rendered opening events are removed if the event log already has opening events', () => {
    const frames = renderEvents([], answeringTo({ model: 'm', input: 'x', background: true })).map(
      formatSseMessage,
    )
    const { text } = numbered([frames.join('')], 3)
    expect(text).toBe(frames.slice(3, -1).join(''))
  })
})

describe("numbering of an upstream's events", () => {
  test('events of an upstream are renumbered without gaps', () => {
    const messages = [
      eventOf('a', { sequence_number: 7 }),
      { event: 'b', data: '{"sequence_number" : 9, "type": "b"}' },
      eventOf('c'),
      { data: '{"type":"d","sequence_number":1}' },
      eventOf('e', { item: { sequence_number: 5 }, sequence_number: 5 }),
      eventOf('f', { text: 'it said "sequence_number": 3', sequence_number: 4 }),
    ]
    const { text, numbers } = numbered([': hello\n\n', messages.map(formatSseMessage).join('')])
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5])
    const told = decodeFrames(text)
    expect(told.map(({ event }) => event)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(told.map(jsonOf)[4]).toMatchObject({ item: { sequence_number: 5 } })
    expect(told.map(jsonOf)[5]).toMatchObject({ text: 'it said "sequence_number": 3' })
  })

  test('events of an upstream are numbered even if they are bytes with other line ends and several data lines', () => {
    const utf8 = new TextEncoder()
    const { text } = numbered([
      utf8.encode('data: {"type":"a",\r\ndata: "x":"é"}\r\nevent: a\r\n\r\n'),
      utf8.encode('event: b\ndata: {"type":"b"}\n\ndata: [DONE]\n\n'),
    ])
    expect(decodeFrames(text).map(jsonOf)).toEqual([
      { type: 'a', x: 'é', sequence_number: 0 },
      { type: 'b', sequence_number: 1 },
    ])
  })

  test('opening events of an upstream are removed if the event log already has opening events', () => {
    const messages = [
      eventOf('response.created'),
      { data: '{"type":"response.in_progress"}' },
      eventOf('response.output_item.added'),
      eventOf('response.in_progress'),
    ]
    const { text, numbers } = numbered(messages.map(formatSseMessage), 3)
    expect(decodeFrames(text)[0]?.event).toBe('response.output_item.added')
    expect(numbers).toEqual([3, 4])
  })

  test('SSE messages of an upstream without a JSON object are removed', () => {
    expect(
      numbered([formatSseMessage({ data: 'hello' }), formatSseMessage({ event: 'x', data: '{' })])
        .next,
    ).toBe(0)
  })

  test.runIf(sharedExists).each(recordedStreams())(
    'the events of a recorded stream of $name are numbered without gaps',
    ({ messages }) => {
      const events = messages.filter(({ data }) => data.startsWith('{'))
      const { numbers } = numbered([messages.map(formatSseMessage).join('')])
      expect(numbers).toEqual(range(0, events.length))
    },
  )
})
