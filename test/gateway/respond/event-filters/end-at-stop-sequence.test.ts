import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { runStage } from '../../../../src/core/stream/stage.ts'
import { createStopSequenceFilter } from '../../../../src/gateway/respond/event-filters/end-at-stop-sequence.ts'
import { eventFaults } from '../../../support/event-laws.ts'
import { answer, nonsense, tangledAnswer } from '../../../support/responses-answers.ts'
import {
  answerOf,
  begun,
  ENDED,
  finalTextsIn,
  inPieces,
  message,
  said,
  STARTED,
  textIn,
  USAGE,
} from '../../said.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'

/** Of few letters, so that beginnings, ends and repetitions are everywhere. */
const dense = (maxLength: number, minLength = 0) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength, maxLength })
const stops = fc.array(dense(5, 1), { minLength: 1, maxLength: 4 })

function cutNaively(text: string, stops: readonly string[]): string {
  const places = stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0)
  return text.slice(0, Math.min(text.length, ...places))
}

function guarded(events: readonly StreamEvent[], ...stops: readonly string[]) {
  return runStage(createStopSequenceFilter(stops), events)
}

describe('the text', () => {
  test('ends in front of the first stop string, wherever its deltas are cut', () => {
    fc.assert(
      fc.property(inPieces(dense(40)), stops, (pieces, stops) => {
        const text = pieces.join('')
        const events = guarded(answerOf(pieces), ...stops)
        expect(textIn(events)).toBe(cutNaively(text, stops))
        expect(finalTextsIn(events)).toEqual([cutNaively(text, stops)])
        expect(eventFaults(events)).toEqual([])
        const isCut = cutNaively(text, stops) !== text
        expect(events.at(-1)).toMatchObject({ finish: isCut ? 'stop' : 'length' })
      }),
      numberOfRuns(300),
    )
  })

  test('is held back no longer than it may be the beginning of a stop string', () => {
    fc.assert(
      fc.property(inPieces(dense(30)), stops, (pieces, stops) => {
        const guard = createStopSequenceFilter(stops)
        guard.push(begun())
        let [come, gone] = ['', '']
        for (const piece of pieces) {
          come += piece
          gone += textIn(guard.push(said(piece)))
          if (cutNaively(come, stops) !== come) return
          const doubt = stops.flatMap((stop) =>
            stop
              .split('')
              .map((_, at) => stop.slice(0, at))
              .filter((start) => come.endsWith(start)),
          )
          expect(come.length - gone.length).toBe(Math.max(0, ...doubt.map(({ length }) => length)))
        }
      }),
      numberOfRuns(300),
    )
  })

  test('goes on as the very same events where there is nothing to doubt', () => {
    const events = answerOf(['Hello ', '', 'world'])
    const through = guarded(events, 'STOP', '\n\n')
    expect(through).toHaveLength(events.length)
    for (const [at, event] of through.entries()) expect(event).toBe(events[at])
  })

  test('is found behind a long text that nearly is one', () => {
    // Who reads it over and over is not done when the time of a test is over.
    const stop = `${'a'.repeat(1000)}b`
    const pieces = Array.from({ length: 16_000 }, () => 'a'.repeat(100))
    expect(textIn(guarded(answerOf([...pieces, 'b']), stop))).toHaveLength(1_599_000)
  })

  test('of which only a beginning was held back comes in full when something else comes', () => {
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
      const guard = createStopSequenceFilter(['END'])
      guard.push(begun())
      expect(textIn(guard.push(said('An EN')))).toBe('An ')
      const events = guard.push(other)
      expect(events).toEqual([said('EN'), other])
      expect(events[1]).toBe(other)
    }
  })

  test('is complete behind a guard without stop strings', () => {
    const events = answerOf(['a', 'b'])
    expect(guarded(events, '')).toEqual(events)
  })
})

describe('any answer', () => {
  const letters = fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 3 })

  test('that was lawful is lawful behind the guard', () => {
    fc.assert(
      fc.property(fc.oneof(answer, tangledAnswer), fc.oneof(stops, letters), (events, stops) => {
        fc.pre(eventFaults(events).length === 0)
        expect(eventFaults(guarded(events, ...stops))).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('without a stop string loses nothing, but for where its deltas are cut', () => {
    fc.assert(
      fc.property(answer, letters, (events, letters) => {
        const never = letters.map((stop) => `${stop}\u{1F6D1}`)
        const through = guarded(events, ...never)
        expect(joined(through)).toEqual(joined(events))
      }),
      numberOfRuns(200),
    )
  })

  test('that makes no sense does not throw', () => {
    fc.assert(
      fc.property(nonsense, letters, (events, letters) => void guarded(events, ...letters)),
      numberOfRuns(200),
    )
  })
})

describe('an answer that is ended', () => {
  test('says nothing more, and nothing of what is behind', () => {
    const guard = createStopSequenceFilter(['END'])
    const events = [STARTED, begun(), said('It is. E'), said('ND of it')].flatMap((event) =>
      guard.push(event),
    )
    expect(events).toEqual([
      STARTED,
      begun(),
      said('It is. '),
      { type: 'item-ended', index: 0, item: message('It is. ') },
      { type: 'answer-ended', finish: 'stop', usage: null },
    ])
    expect(guard.push(said('more'))).toEqual([])
    expect(guard.push(ENDED)).toEqual([])
    expect(guard.end()).toEqual([])
  })

  test('knows its cost where the upstream had said it', () => {
    // What is found is the "b", unless it turns out to be the middle of an "abc".
    const events = guarded([STARTED, begun(), said('xab'), ENDED], 'abc', 'b')
    expect(textIn(events)).toBe('xa')
    expect(events.at(-1)).toEqual({ type: 'answer-ended', finish: 'stop', usage: USAGE })
  })

  test('keeps a message that says nothing, and its status is that of a whole one', () => {
    const item = message('', { id: 'msg_1', status: 'in_progress' })
    const events = guarded([STARTED, { type: 'item-started', index: 0, item }, said('END')], 'END')
    expect(events.at(-2)).toEqual({
      type: 'item-ended',
      index: 0,
      item: { ...item, status: 'completed' },
    })
  })

  test('ends what else is open: whole where it is, otherwise incomplete', () => {
    const call = (index: number, text: string): StreamEvent[] => [
      {
        type: 'item-started',
        index,
        item: { type: 'function_call', call_id: `c${index}`, name: 'f', arguments: '' },
      },
      { type: 'arguments-delta', index, text },
    ]
    const events = guarded(
      [STARTED, ...call(0, '{"a":1}'), ...call(1, '{"a":'), begun(2), said('Hi END', 2)],
      'END',
    )
    expect(eventFaults(events)).toEqual([])
    expect(events.slice(-4, -1)).toMatchObject([
      { item: { call_id: 'c0', arguments: '{"a":1}' } },
      { item: { call_id: 'c1', arguments: '{"a":', status: 'incomplete' } },
      { item: message('Hi ') },
    ])
    expect(events.at(-4)).not.toHaveProperty('item.status')
  })

  test('keeps annotations of what was said, and loses those of what was not', () => {
    const note = (at: number): StreamEvent => ({
      type: 'annotation-added',
      index: 0,
      part: 0,
      annotation: { at },
    })
    const events = guarded(
      [STARTED, begun(), said('One E'), note(1), said('x two EN'), note(2), said('D'), note(3)],
      'END',
    )
    expect(eventFaults(events)).toEqual([])
    expect(events.filter(({ type }) => type === 'annotation-added')).toEqual([note(1)])
    expect(events.at(-2)).toMatchObject({
      item: { content: [{ text: 'One Ex two ', annotations: [{ at: 1 }] }] },
    })
  })

  test('keeps the log probabilities of the tokens that were said whole', () => {
    const logprobs = ['One', ' EN', 'D'].map((token) => ({ token, logprob: -1 }))
    const delta: StreamEvent = { type: 'text-delta', index: 0, part: 0, text: 'One END', logprobs }
    const events = guarded([STARTED, begun(), delta], 'END')
    expect(events.at(-2)).toMatchObject({
      item: { content: [{ text: 'One ', logprobs: logprobs.slice(0, 1) }] },
    })
    expect(textIn(events)).toBe('One ')
  })
})

/** Deltas of the same text in a row as one; their log probabilities may lie elsewhere among them. */
function joined(events: readonly StreamEvent[]): readonly unknown[] {
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
