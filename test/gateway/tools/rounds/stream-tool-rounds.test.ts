/** One answer of several rounds, as its client would hear it, hold it back and leave it. */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { createGatewayToolOutput } from '../../../../src/core/items/gateway-tool-items.ts'
import type { FunctionCall } from '../../../../src/core/item.ts'
import { createFailure, GatewayError } from '../../../../src/core/errors/gateway-error.ts'
import { createRoundEventMerger } from '../../../../src/gateway/tools/rounds/merge-round-events.ts'
import type { AnswerEventSource } from '../../../../src/gateway/send/answer-event-source-interface.ts'
import type { PushSink } from '../../../../src/core/stream/push-source.ts'
import { NO_OUTPUT } from '../../../../src/core/stream/stage.ts'
import {
  streamToolRounds,
  type StreamedRound,
} from '../../../../src/gateway/tools/rounds/stream-tool-rounds.ts'
import { answerOf, begun, message, said, STARTED, textIn, USAGE } from '../../said.ts'
import { eventFaults } from '../../../support/event-laws.ts'

const NAME = 'expand_output'
const CALL: FunctionCall = {
  type: 'function_call',
  call_id: 'call_1',
  name: NAME,
  arguments: '{}',
}
const CALLED: readonly StreamEvent[] = [
  STARTED,
  { type: 'item-started', index: 0, item: { ...CALL, arguments: '' } },
  { type: 'arguments-delta', index: 0, text: '{}' },
  { type: 'item-ended', index: 0, item: CALL },
  { type: 'answer-ended', finish: 'stop', usage: USAGE },
]
const CLOSED: readonly StreamEvent[] = [
  { type: 'item-ended', index: 0, item: message('a') },
  { type: 'answer-failed', failure: createFailure('upstream_broken', 'It ended early.') },
]
const REFUSED = new GatewayError('upstream_broken', 'Not again.')

/** The house is called in the first round; `second` says what becomes of the next. */
function heard(second: 'asked' | 'refused' = 'asked') {
  const flows: string[] = []
  const events: StreamEvent[] = []
  const ended: string[] = []
  const sinks: PushSink<readonly StreamEvent[]>[] = []
  let isDisconnected = false
  const openIn = (name: string, open: readonly StreamEvent[]): AnswerEventSource => ({
    flow(sink) {
      sinks.push(sink)
      const told = (what: string) => () => void flows.push(`${name} ${what}`)
      return { pause: told('paused'), resume: told('resumed') }
    },
    cancel: () => undefined,
    end: () => open,
  })
  const last: StreamedRound = {
    events: openIn('second', CLOSED),
    names: [NAME],
    goOn: () => Promise.resolve(null),
  }
  const first: StreamedRound = {
    events: openIn('first', NO_OUTPUT),
    names: [NAME],
    goOn: ({ houseCalls }, put) => {
      put(houseCalls.map(({ call_id: id }) => createGatewayToolOutput(id, 'done')))
      return second === 'asked' ? Promise.resolve(last) : Promise.reject(REFUSED)
    },
  }
  const answer = streamToolRounds({
    first,
    answer: createRoundEventMerger('01KQZ3V8M6T2X9R4B7C9', [NAME]),
    isDisconnected: () => isDisconnected,
    cancel: () => (isDisconnected = true),
    log: () => undefined,
  })
  const flow = answer.flow({
    chunk: (more) => void events.push(...more),
    end: () => void ended.push('end'),
    failed: ({ message: why }) => void ended.push(why),
  })
  return {
    answer,
    flow,
    flows,
    events,
    ended,
    say: (...more: readonly StreamEvent[]) => sinks.at(-1)?.chunk(more),
    break: () => sinks.at(-1)?.failed(createFailure('upstream_broken', 'cut')),
    /** What is behind the end of a round has happened. */
    async end() {
      sinks.at(-1)?.end()
      await new Promise((resolve) => setTimeout(resolve, 0))
    },
  }
}

describe('two rounds', () => {
  test('are one answer', async () => {
    const { say, end, events, ended } = heard()
    say(...CALLED)
    await end()
    expect(ended).toEqual([])
    say(...answerOf(['It is 4.']))
    await end()
    expect(ended).toEqual(['end'])
    expect(eventFaults(events)).toEqual([])
    expect(textIn(events)).toBe('It is 4.')
    const items = events.flatMap((event) => (event.type === 'item-ended' ? [event.item.type] : []))
    expect(items).toEqual(['function_call', 'function_call_output', 'message'])
  })

  test('are held back as one', async () => {
    const { say, end, flow, flows } = heard()
    flow.pause()
    flow.resume()
    say(...CALLED)
    const ended = end()
    flow.pause()
    await ended
    flow.resume()
    expect(flows).toEqual(['first paused', 'first resumed', 'second paused', 'second resumed'])
  })
})

describe('what is open is closed', () => {
  test('where the second breaks', async () => {
    const { say, end, break: cut, events, ended } = heard()
    say(...CALLED)
    await end()
    say(STARTED, begun(), said('a'))
    cut()
    expect(ended).toEqual(['end'])
    expect(eventFaults(events)).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'answer-failed', failure: { message: 'cut' } })
  })

  test('where its client has heard enough', async () => {
    const { say, end, answer, events } = heard()
    say(...CALLED)
    await end()
    say(STARTED, begun(), said('a'))
    const closed = answer.end()
    expect(eventFaults([...events, ...closed])).toEqual([])
    expect(closed.map(({ type }) => type)).toEqual(['item-ended', 'answer-failed'])
    expect(answer.end()).toEqual([])
  })

  test('where nothing is, between two rounds', () => {
    const { say, answer, events } = heard()
    say(...CALLED)
    expect(eventFaults([...events, ...answer.end()])).toEqual([])
  })
})

test('a second that is refused ends the answer, and what was said before is told', async () => {
  const { say, end, events, ended } = heard('refused')
  say(...CALLED)
  await end()
  expect(ended).toEqual(['end'])
  expect(eventFaults(events)).toEqual([])
  expect(events.at(-1)).toMatchObject({ type: 'answer-failed', failure: REFUSED.failure })
})

test('to a client that has left nothing is told', async () => {
  const { say, break: cut, answer, events, ended } = heard()
  say(STARTED, begun(), said('a'))
  answer.cancel()
  cut()
  expect(ended).toEqual(['cut'])
  expect(events).toHaveLength(3)
})
