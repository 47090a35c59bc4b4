import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import type { Decoder } from '../../../../src/providers/provider-interface.ts'
import {
  applyEventFilters,
  filterEventList,
} from '../../../../src/gateway/respond/event-filters/apply-event-filters.ts'
import { createStopSequenceFilter } from '../../../../src/gateway/respond/event-filters/end-at-stop-sequence.ts'
import { eventFaults } from '../../../support/event-laws.ts'
import { answerOf, begun, ENDED, finalTextsIn, said, STARTED, textIn, USAGE } from '../../said.ts'

const failure = createFailure('upstream_broken', 'It broke.')

/** Each message is a list of events; what it ends with knows what the answer has cost so far. */
function decoder(): Decoder {
  return {
    push: ({ data }) => JSON.parse(data) as StreamEvent[],
    end: () => [{ type: 'answer-failed', failure, usage: USAGE }],
  }
}

function message(...events: readonly StreamEvent[]) {
  return { data: JSON.stringify(events) }
}

describe('a stream', () => {
  test('is cut by whichever guard comes first, and by none when the upstream is over', () => {
    const both = () =>
      applyEventFilters(decoder(), [
        createStopSequenceFilter(['one']),
        createStopSequenceFilter(['two']),
      ])
    const stream = both()
    expect(stream.push(message(STARTED, begun(), said('a t')))).toHaveLength(3)
    expect(stream.isCutShort()).toBe(false)
    const events = stream.push(message(said('wo one')))
    expect(stream.isCutShort()).toBe(true)
    expect(events.map(({ type }) => type)).toEqual(['item-ended', 'answer-ended'])
    expect(stream.push(message(said('more')))).toEqual([])
    expect(stream.end()).toEqual([])

    const ended = both()
    ended.push(message(...answerOf(['a two'])))
    expect(ended.isCutShort()).toBe(false)
  })

  test('that comes at once costs what its upstream says, though a guard ends it', () => {
    const stream = applyEventFilters(decoder(), [createStopSequenceFilter(['two'])])
    const events = stream.push(message(...answerOf(['one two', 'three'])))
    expect(textIn(events)).toBe('one ')
    expect(events.at(-1)).toEqual({ type: 'answer-ended', finish: 'stop', usage: USAGE })
  })

  test('that is cut costs what its upstream has said until then', () => {
    const stream = applyEventFilters(decoder(), [createStopSequenceFilter(['two'])])
    const events = stream.push(message(STARTED, begun(), said('one two')))
    expect(events.at(-1)).toEqual({ type: 'answer-ended', finish: 'stop', usage: USAGE })
  })

  test('that breaks says first what was held back', () => {
    const stream = applyEventFilters(decoder(), [createStopSequenceFilter(['two'])])
    stream.push(message(STARTED, begun(), said('one t')))
    expect(textIn(stream.broken(failure))).toBe('t')
    expect(stream.broken(failure)).toEqual([])
  })

  test('without guards is the decoder itself', () => {
    const plain = decoder()
    const stream = applyEventFilters(plain, [])
    expect(stream.push).toBe(plain.push)
    expect(stream.broken(failure)).toEqual([{ type: 'answer-failed', failure }])
  })
})

describe('a whole answer', () => {
  const whole = answerOf(['one two three'])

  test('is cut, and what it has cost is known', () => {
    const events = filterEventList(whole, [createStopSequenceFilter(['two'])])
    expect(finalTextsIn(events)).toEqual(['one '])
    expect(events.at(-1)).toEqual({ type: 'answer-ended', finish: 'stop', usage: USAGE })
    expect(eventFaults(events)).toEqual([])
  })

  test('is the same where nothing stops it', () => {
    expect(filterEventList(whole, [])).toBe(whole)
    expect(filterEventList(whole, [createStopSequenceFilter(['four'])])).toEqual(whole)
    expect(filterEventList(whole, [createStopSequenceFilter(['four'])]).at(-1)).toEqual(ENDED)
  })
})
