import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { runStage } from '../../../../src/core/stream/stream-stage.ts'
import { createStopSequenceFilter } from '../../../../src/gateway/respond/event-filters/end-at-stop-sequence.ts'
import { findEventFaults } from '../../../support/event-laws.ts'
import { answer, nonsense, tangledAnswer } from '../../../support/responses-answers.ts'
import {
  createAnswer,
  messageStarted,
  ENDED,
  listFinalTexts,
  splitText,
  message,
  textDelta,
  STARTED,
  joinDeltas,
  USAGE,
} from '../../said.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'

/** Few different letters make many prefixes, suffixes and repetitions. */
const fewLetters = (maxLength: number, minLength = 0) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength, maxLength })
const stops = fc.array(fewLetters(5, 1), { minLength: 1, maxLength: 4 })

function cutWithIndexOf(text: string, stops: readonly string[]): string {
  const positions = stops.map((stop) => text.indexOf(stop)).filter((position) => position >= 0)
  return text.slice(0, Math.min(text.length, ...positions))
}

function filterEvents(events: readonly StreamEvent[], ...stops: readonly string[]) {
  return runStage(createStopSequenceFilter(stops), events)
}

describe('text that the stop sequence filter passes on', () => {
  test('an answer ends before its first stop string, however its text is split into deltas', () => {
    fc.assert(
      fc.property(splitText(fewLetters(40)), stops, (pieces, stops) => {
        const text = pieces.join('')
        const events = filterEvents(createAnswer(pieces), ...stops)
        expect(joinDeltas(events)).toBe(cutWithIndexOf(text, stops))
        expect(listFinalTexts(events)).toEqual([cutWithIndexOf(text, stops)])
        expect(findEventFaults(events)).toEqual([])
        const isCut = cutWithIndexOf(text, stops) !== text
        expect(events.at(-1)).toMatchObject({ finish: isCut ? 'stop' : 'length' })
      }),
      numberOfRuns(300),
    )
  })

  test('text of an answer is held back only while it may be the start of a stop string', () => {
    fc.assert(
      fc.property(splitText(fewLetters(30)), stops, (pieces, stops) => {
        const filter = createStopSequenceFilter(stops)
        filter.push(messageStarted())
        let [received, passed] = ['', '']
        for (const piece of pieces) {
          received += piece
          passed += joinDeltas(filter.push(textDelta(piece)))
          if (cutWithIndexOf(received, stops) !== received) return
          const possibleStarts = stops.flatMap((stop) =>
            stop
              .split('')
              .map((_, at) => stop.slice(0, at))
              .filter((start) => received.endsWith(start)),
          )
          expect(received.length - passed.length).toBe(
            Math.max(0, ...possibleStarts.map(({ length }) => length)),
          )
        }
      }),
      numberOfRuns(300),
    )
  })

  test('text deltas that cannot start a stop string are passed on as the same objects', () => {
    const events = createAnswer(['Hello ', '', 'world'])
    const filtered = filterEvents(events, 'STOP', '\n\n')
    expect(filtered).toHaveLength(events.length)
    for (const [at, event] of filtered.entries()) expect(event).toBe(events[at])
  })

  test('stop strings are searched in linear time, even after a long near match', () => {
    // A quadratic search would exceed the time limit of the test.
    const stop = `${'a'.repeat(1000)}b`
    const pieces = Array.from({ length: 16_000 }, () => 'a'.repeat(100))
    expect(joinDeltas(filterEvents(createAnswer([...pieces, 'b']), stop))).toHaveLength(1_599_000)
  })

  test('text that the filter holds back is passed on before the next event that is not text', () => {
    const call: StreamEvent = {
      type: 'item-started',
      index: 1,
      item: { type: 'function_call', call_id: 'a', name: 'f', arguments: '' },
    }
    const others: readonly StreamEvent[] = [
      call,
      { type: 'refusal-delta', index: 0, part: 1, text: 'No.' },
      { type: 'reasoning-delta', index: 1, channel: 'summary', part: 0, text: 'Hm' },
      { type: 'item-ended', index: 0, item: message('An EN') },
      ENDED,
      {
        type: 'answer-failed',
        failure: { status: 502, type: 'x', code: null, message: '', param: null },
      },
    ]
    for (const other of others) {
      const filter = createStopSequenceFilter(['END'])
      filter.push(messageStarted())
      expect(joinDeltas(filter.push(textDelta('An EN')))).toBe('An ')
      const events = filter.push(other)
      expect(events).toEqual([textDelta('EN'), other])
      expect(events[1]).toBe(other)
    }
  })

  test('a stop sequence filter without stop strings passes an answer on unchanged', () => {
    const events = createAnswer(['a', 'b'])
    expect(filterEvents(events, '')).toEqual(events)
  })
})

describe('the stop sequence filter on random answers', () => {
  const letters = fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 3 })

  test('a valid random answer is still valid after the stop sequence filter', () => {
    fc.assert(
      fc.property(fc.oneof(answer, tangledAnswer), fc.oneof(stops, letters), (events, stops) => {
        fc.pre(findEventFaults(events).length === 0)
        expect(findEventFaults(filterEvents(events, ...stops))).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('the stop sequence filter keeps the text of an answer without a stop string', () => {
    fc.assert(
      fc.property(answer, letters, (events, letters) => {
        const never = letters.map((stop) => `${stop}\u{1F6D1}`)
        const filtered = filterEvents(events, ...never)
        expect(mergeDeltas(filtered)).toEqual(mergeDeltas(events))
      }),
      numberOfRuns(200),
    )
  })

  test('the stop sequence filter does not throw for events in an invalid order', () => {
    fc.assert(
      fc.property(nonsense, letters, (events, letters) => void filterEvents(events, ...letters)),
      numberOfRuns(200),
    )
  })
})

describe('an answer that ends at a stop string', () => {
  test('an answer that ends at a stop string has no later text and no later events', () => {
    const filter = createStopSequenceFilter(['END'])
    const events = [
      STARTED,
      messageStarted(),
      textDelta('It is. E'),
      textDelta('ND of it'),
    ].flatMap((event) => filter.push(event))
    expect(events).toEqual([
      STARTED,
      messageStarted(),
      textDelta('It is. '),
      { type: 'item-ended', index: 0, item: message('It is. ') },
      { type: 'answer-ended', finish: 'stop', usage: null },
    ])
    expect(filter.push(textDelta('more'))).toEqual([])
    expect(filter.push(ENDED)).toEqual([])
    expect(filter.end()).toEqual([])
  })

  test('an answer that ends at a stop string has the usage that the upstream reported', () => {
    // The `b` is a match, unless a `c` follows: `abc` starts earlier.
    const events = filterEvents([STARTED, messageStarted(), textDelta('xab'), ENDED], 'abc', 'b')
    expect(joinDeltas(events)).toBe('xa')
    expect(events.at(-1)).toEqual({ type: 'answer-ended', finish: 'stop', usage: USAGE })
  })

  test('a message that starts with a stop string is sent empty, with the status completed', () => {
    const item = message('', { id: 'msg_1', status: 'in_progress' })
    const events = filterEvents(
      [STARTED, { type: 'item-started', index: 0, item }, textDelta('END')],
      'END',
    )
    expect(events.at(-2)).toEqual({
      type: 'item-ended',
      index: 0,
      item: { ...item, status: 'completed' },
    })
  })

  test('calls that are open at a stop string end as completed if their arguments are valid JSON, otherwise as incomplete', () => {
    const call = (index: number, text: string): StreamEvent[] => [
      {
        type: 'item-started',
        index,
        item: { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: '' },
      },
      { type: 'arguments-delta', index, text },
    ]
    const events = filterEvents(
      [
        STARTED,
        ...call(0, '{"a":1}'),
        ...call(1, '{"a":'),
        messageStarted(2),
        textDelta('Hi END', 2),
      ],
      'END',
    )
    expect(findEventFaults(events)).toEqual([])
    expect(events.slice(-4, -1)).toMatchObject([
      { item: { call_id: 'c0', arguments: '{"a":1}' } },
      { item: { call_id: 'c1', arguments: '{"a":', status: 'incomplete' } },
      { item: message('Hi ') },
    ])
    expect(events.at(-4)).not.toHaveProperty('item.status')
  })

  test('annotations of text before a stop string are passed on, later ones are dropped', () => {
    const note = (at: number): StreamEvent => ({
      type: 'annotation-added',
      index: 0,
      part: 0,
      annotation: { at },
    })
    const events = filterEvents(
      [
        STARTED,
        messageStarted(),
        textDelta('One E'),
        note(1),
        textDelta('x two EN'),
        note(2),
        textDelta('D'),
        note(3),
      ],
      'END',
    )
    expect(findEventFaults(events)).toEqual([])
    expect(events.filter(({ type }) => type === 'annotation-added')).toEqual([note(1)])
    expect(events.at(-2)).toMatchObject({
      item: { content: [{ text: 'One Ex two ', annotations: [{ at: 1 }] }] },
    })
  })

  test('only tokens that end before a stop string keep their log probabilities', () => {
    const logprobs = ['One', ' EN', 'D'].map((token) => ({ token, logprob: -1 }))
    const delta: StreamEvent = { type: 'text-delta', index: 0, part: 0, text: 'One END', logprobs }
    const events = filterEvents([STARTED, messageStarted(), delta], 'END')
    expect(events.at(-2)).toMatchObject({
      item: { content: [{ text: 'One ', logprobs: logprobs.slice(0, 1) }] },
    })
    expect(joinDeltas(events)).toBe('One ')
  })
})

/** Merges adjacent deltas of a text, whose log probabilities may be distributed differently. */
function mergeDeltas(events: readonly StreamEvent[]): readonly unknown[] {
  const all: StreamEvent[] = []
  for (const event of events) {
    const last = all.at(-1)
    if (
      event.type === 'text-delta' &&
      last?.type === 'text-delta' &&
      last.index === event.index &&
      last.part === event.part
    ) {
      const logprobs = [...(last.logprobs ?? []), ...(event.logprobs ?? [])]
      all[all.length - 1] = { ...last, text: last.text + event.text, logprobs }
    } else if (event.type === 'text-delta') all.push({ ...event, logprobs: event.logprobs ?? [] })
    else all.push(event)
  }
  return all
}
