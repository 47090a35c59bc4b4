import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import type { Decoder } from '../../../../src/providers/provider-interface.ts'
import {
  applyEventFilters,
  filterEventList,
} from '../../../../src/gateway/respond/event-filters/apply-event-filters.ts'
import { createStopSequenceFilter } from '../../../../src/gateway/respond/event-filters/end-at-stop-sequence.ts'
import { findEventFaults } from '../../../support/event-laws.ts'
import {
  createAnswer,
  messageStarted,
  ENDED,
  listFinalTexts,
  textDelta,
  STARTED,
  joinDeltas,
  USAGE,
} from '../../said.ts'

const failure = createFailure('upstream_broken', 'It broke.')

/** Each message is a JSON list of events. The ending of the decoder has the usage so far. */
function decoder(): Decoder {
  return {
    push: ({ data }) => JSON.parse(data) as StreamEvent[],
    end: () => [{ type: 'answer-failed', failure, usage: USAGE }],
  }
}

function message(...events: readonly StreamEvent[]) {
  return { data: JSON.stringify(events) }
}

describe('event filters of a streamed answer', () => {
  test('a streamed answer ends where an event filter first matches, and is cut short unless the upstream has ended it too', () => {
    const createStream = () =>
      applyEventFilters(decoder(), [
        createStopSequenceFilter(['one']),
        createStopSequenceFilter(['two']),
      ])
    const stream = createStream()
    expect(stream.push(message(STARTED, messageStarted(), textDelta('a t')))).toHaveLength(3)
    expect(stream.isCutShort()).toBe(false)
    const events = stream.push(message(textDelta('wo one')))
    expect(stream.isCutShort()).toBe(true)
    expect(events.map(({ type }) => type)).toEqual(['item-ended', 'answer-ended'])
    expect(stream.push(message(textDelta('more')))).toEqual([])
    expect(stream.end()).toEqual([])

    const ended = createStream()
    ended.push(message(...createAnswer(['a two'])))
    expect(ended.isCutShort()).toBe(false)
  })

  test('a streamed answer that a filter ends has the usage of the upstream if all its events came at once', () => {
    const stream = applyEventFilters(decoder(), [createStopSequenceFilter(['two'])])
    const events = stream.push(message(...createAnswer(['one two', 'three'])))
    expect(joinDeltas(events)).toBe('one ')
    expect(events.at(-1)).toEqual({ type: 'answer-ended', finish: 'stop', usage: USAGE })
  })

  test('a streamed answer that a filter ends has the usage that the upstream reported earlier', () => {
    const stream = applyEventFilters(decoder(), [createStopSequenceFilter(['two'])])
    const events = stream.push(message(STARTED, messageStarted(), textDelta('one two')))
    expect(events.at(-1)).toEqual({ type: 'answer-ended', finish: 'stop', usage: USAGE })
  })

  test('if a streamed answer breaks off, the text that a filter held back is passed on at its end', () => {
    const stream = applyEventFilters(decoder(), [createStopSequenceFilter(['two'])])
    stream.push(message(STARTED, messageStarted(), textDelta('one t')))
    expect(joinDeltas(stream.endBrokenAnswer(failure))).toBe('t')
    expect(stream.endBrokenAnswer(failure)).toEqual([])
  })

  test('without event filters, the events of the decoder are passed on directly', () => {
    const plain = decoder()
    const stream = applyEventFilters(plain, [])
    expect(stream.push).toBe(plain.push)
    expect(stream.endBrokenAnswer(failure)).toEqual([{ type: 'answer-failed', failure }])
  })
})

describe('event filters of a complete answer', () => {
  const answer = createAnswer(['one two three'])

  test('a complete answer that a filter ends early keeps its complete usage', () => {
    const events = filterEventList(answer, [createStopSequenceFilter(['two'])])
    expect(listFinalTexts(events)).toEqual(['one '])
    expect(events.at(-1)).toEqual({ type: 'answer-ended', finish: 'stop', usage: USAGE })
    expect(findEventFaults(events)).toEqual([])
  })

  test('a complete answer is unchanged if no event filter ends it early', () => {
    expect(filterEventList(answer, [])).toBe(answer)
    expect(filterEventList(answer, [createStopSequenceFilter(['four'])])).toEqual(answer)
    expect(filterEventList(answer, [createStopSequenceFilter(['four'])]).at(-1)).toEqual(ENDED)
  })
})
