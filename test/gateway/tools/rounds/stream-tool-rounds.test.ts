/** Streams, pauses and cancels an answer of two rounds. */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { createGatewayToolOutput } from '../../../../src/core/items/gateway-tool-items.ts'
import type { FunctionCall } from '../../../../src/core/item.ts'
import { createFailure, GatewayError } from '../../../../src/core/errors/gateway-error.ts'
import { createRoundEventMerger } from '../../../../src/gateway/tools/rounds/merge-round-events.ts'
import type { AnswerEventSource } from '../../../../src/gateway/send/answer-event-source-interface.ts'
import type { PushSink } from '../../../../src/core/stream/push-source-interface.ts'
import { NO_OUTPUT } from '../../../../src/core/stream/stream-stage.ts'
import {
  streamToolRounds,
  type StreamedRound,
} from '../../../../src/gateway/tools/rounds/stream-tool-rounds.ts'
import {
  createAnswer,
  messageStarted,
  message,
  textDelta,
  STARTED,
  joinDeltas,
  USAGE,
} from '../../said.ts'
import { findEventFaults } from '../../../support/event-laws.ts'

const NAME = 'expand_output'
const CALL: FunctionCall = {
  type: 'function_call',
  call_id: 'call_1',
  name: NAME,
  arguments: '{}',
}
const CALL_EVENTS: readonly StreamEvent[] = [
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
const REJECTION = new GatewayError('upstream_broken', 'Not again.')

/** The first round calls a gateway tool; `second` is the fate of the second request. */
function startAnswer(second: 'sent' | 'rejected' = 'sent') {
  const flows: string[] = []
  const events: StreamEvent[] = []
  const ended: string[] = []
  const sinks: PushSink<readonly StreamEvent[]>[] = []
  let isDisconnected = false
  const createSource = (name: string, rest: readonly StreamEvent[]): AnswerEventSource => ({
    flow(sink) {
      sinks.push(sink)
      const record = (action: string) => () => void flows.push(`${name} ${action}`)
      return { pause: record('paused'), resume: record('resumed') }
    },
    cancel: () => undefined,
    end: () => rest,
  })
  const last: StreamedRound = {
    events: createSource('second', CLOSED),
    toolNames: [NAME],
    openNextRound: () => Promise.resolve(null),
  }
  const first: StreamedRound = {
    events: createSource('first', NO_OUTPUT),
    toolNames: [NAME],
    openNextRound: ({ gatewayCalls }, emitOutputs) => {
      emitOutputs(gatewayCalls.map(({ call_id: id }) => createGatewayToolOutput(id, 'done')))
      return second === 'sent' ? Promise.resolve(last) : Promise.reject(REJECTION)
    },
  }
  const answer = streamToolRounds({
    first,
    merger: createRoundEventMerger('01KQZ3V8M6T2X9R4B7C9', [NAME]),
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
    emit: (...more: readonly StreamEvent[]) => sinks.at(-1)?.chunk(more),
    break: () => sinks.at(-1)?.failed(createFailure('upstream_broken', 'cut')),
    /** Resolves after the work that follows the end of a round. */
    async end() {
      sinks.at(-1)?.end()
      await new Promise((resolve) => setTimeout(resolve, 0))
    },
  }
}

describe('streaming two tool rounds', () => {
  test('two tool rounds are streamed as one answer', async () => {
    const { emit, end, events, ended } = startAnswer()
    emit(...CALL_EVENTS)
    await end()
    expect(ended).toEqual([])
    emit(...createAnswer(['It is 4.']))
    await end()
    expect(ended).toEqual(['end'])
    expect(findEventFaults(events)).toEqual([])
    expect(joinDeltas(events)).toBe('It is 4.')
    const items = events.flatMap((event) => (event.type === 'item-ended' ? [event.item.type] : []))
    expect(items).toEqual(['function_call', 'function_call_output', 'message'])
  })

  test('pausing or resuming an answer pauses or resumes its current tool round', async () => {
    const { emit, end, flow, flows } = startAnswer()
    flow.pause()
    flow.resume()
    emit(...CALL_EVENTS)
    const ended = end()
    flow.pause()
    await ended
    flow.resume()
    expect(flows).toEqual(['first paused', 'first resumed', 'second paused', 'second resumed'])
  })
})

describe('open items of an answer with tool rounds that ends early', () => {
  test('the open items of an answer are closed if its second tool round breaks off', async () => {
    const { emit, end, break: breakOff, events, ended } = startAnswer()
    emit(...CALL_EVENTS)
    await end()
    emit(STARTED, messageStarted(), textDelta('a'))
    breakOff()
    expect(ended).toEqual(['end'])
    expect(findEventFaults(events)).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'answer-failed', failure: { message: 'cut' } })
  })

  test('the open items of an answer with tool rounds are closed if the reader ends it early', async () => {
    const { emit, end, answer, events } = startAnswer()
    emit(...CALL_EVENTS)
    await end()
    emit(STARTED, messageStarted(), textDelta('a'))
    const closed = answer.end()
    expect(findEventFaults([...events, ...closed])).toEqual([])
    expect(closed.map(({ type }) => type)).toEqual(['item-ended', 'answer-failed'])
    expect(answer.end()).toEqual([])
  })

  test('ending the answer between two tool rounds closes no items', () => {
    const { emit, answer, events } = startAnswer()
    emit(...CALL_EVENTS)
    expect(findEventFaults([...events, ...answer.end()])).toEqual([])
  })
})

test('if the upstream rejects the second tool round, the answer ends with a failure after the items of the first', async () => {
  const { emit, end, events, ended } = startAnswer('rejected')
  emit(...CALL_EVENTS)
  await end()
  expect(ended).toEqual(['end'])
  expect(findEventFaults(events)).toEqual([])
  expect(events.at(-1)).toMatchObject({ type: 'answer-failed', failure: REJECTION.failure })
})

test('if the client disconnects during a tool round, no failure event is written', async () => {
  const { emit, break: breakOff, answer, events, ended } = startAnswer()
  emit(STARTED, messageStarted(), textDelta('a'))
  answer.cancel()
  breakOff()
  expect(ended).toEqual(['cut'])
  expect(events).toHaveLength(3)
})
