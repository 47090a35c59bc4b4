/** Random rounds become one valid answer, for the store and for clients of both dialects. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent, TokenUsage } from '../../../../src/core/stream-event.ts'
import {
  createGatewayToolOutput,
  isGatewayToolItem,
} from '../../../../src/core/items/gateway-tool-items.ts'
import type { Item } from '../../../../src/core/item.ts'
import { createOutcomeCollector } from '../../../../src/core/collect-answer-outcome.ts'
import { findToolCallPairs } from '../../../../src/core/items/tool-call-pairs.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import type { AnswerRenderer } from '../../../../src/core/ports/dialect-interface.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { createRoundEventMerger } from '../../../../src/gateway/tools/rounds/merge-round-events.ts'
import { hideGatewayTools } from '../../../../src/gateway/respond/hide-gateway-tools.ts'
import { createAnswerContext as chatAnswering } from '../../../dialects/chat/kit.ts'
import { findEventFaults } from '../../../support/event-laws.ts'
import { answer, tangledAnswer } from '../../../support/responses-answers.ts'
import { responsesFaults } from '../../../support/responses-checker.ts'
import { answeringTo } from '../../../support/responses-kit.ts'

const TURN = '01KQZ3V8M6T2X9R4B7C9'
const GATEWAY_TOOL_NAMES = new Set(['expand_output'])
const USAGE: TokenUsage = {
  inputTokens: 7,
  cachedTokens: 4,
  cacheWriteTokens: null,
  outputTokens: 3,
  reasoningTokens: null,
  totalTokens: 10,
}

/** Merges the rounds and adds an output for each gateway call. */
function mergeRounds(rounds: readonly (readonly StreamEvent[])[]): readonly StreamEvent[] {
  const merger = createRoundEventMerger(TURN, GATEWAY_TOOL_NAMES)
  const all: StreamEvent[] = []
  for (const [at, events] of rounds.entries()) {
    for (const event of events) all.push(...merger.pushEvents([event]))
    const finished = merger.getFinishedRound()
    if (merger.isOver() || finished === null) break
    all.push(
      ...merger.addOutputs(
        finished.gatewayCalls.map(({ call_id: id }) => createGatewayToolOutput(id, 'done')),
      ),
    )
    const isLast = at === rounds.length - 1
    if (finished.hasClientCalls || finished.finish !== 'stop' || isLast)
      all.push(...merger.endAnswer())
    else merger.startNextRound()
  }
  return all
}

/** Turns some calls of an answer into gateway calls. */
function renameCalls(
  events: readonly StreamEvent[],
  picks: readonly boolean[],
): readonly StreamEvent[] {
  return events.map((event) => {
    if (!('item' in event) || event.item.type !== 'function_call') return event
    const isGatewayCall = picks[event.index % Math.max(1, picks.length)] === true
    return isGatewayCall ? { ...event, item: { ...event.item, name: 'expand_output' } } : event
  })
}

const round = fc
  .tuple(fc.oneof(answer, tangledAnswer), fc.array(fc.boolean(), { maxLength: 4 }))
  .map(([events, picks]) => renameCalls(events, picks))
  .filter((events) => findEventFaults(events).length === 0)
const rounds = fc.array(round, { minLength: 1, maxLength: 5 })

function renderEvents(events: readonly StreamEvent[], renderer: AnswerRenderer) {
  const fold = createOutcomeCollector()
  const messages = events.flatMap((event) => {
    fold.push(event)
    return renderer.push(event)
  })
  return [...messages, ...renderer.end(fold.currentOutcome(), 2)]
}

describe('merging the events of random tool rounds', () => {
  test('random tool rounds are merged into one valid answer', () => {
    fc.assert(
      fc.property(rounds, (list) => {
        expect(findEventFaults(mergeRounds(list))).toEqual([])
      }),
    )
  })

  test('each gateway call in the merged tool rounds has an output, unless the answer failed', () => {
    fc.assert(
      fc.property(rounds, (list) => {
        const events = mergeRounds(list)
        const items: Item[] = []
        for (const event of events) if (event.type === 'item-ended') items[event.index] = event.item
        if (events.at(-1)?.type === 'answer-failed') return
        const partners = findToolCallPairs(items)
        for (const [at, item] of items.entries()) {
          if (isGatewayToolItem(item)) expect(partners[at]).not.toBe(-1)
        }
      }),
    )
  })

  test('merged tool rounds are rendered in Responses as one valid answer without gateway calls', () => {
    fc.assert(
      fc.property(rounds, (list) => {
        const messages = renderEvents(
          mergeRounds(list),
          hideGatewayTools(responsesDialect.createRenderer(answeringTo())),
        )
        expect(responsesFaults(messages)).toEqual([])
        expect(JSON.stringify(messages)).not.toContain('expand_output')
      }),
    )
  })

  test('merged tool rounds are rendered in Chat Completions as one message without gateway calls', () => {
    fc.assert(
      fc.property(rounds, (list) => {
        const messages = renderEvents(
          mergeRounds(list),
          hideGatewayTools(chatDialect.createRenderer(chatAnswering())),
        )
        expect(messages.filter(({ data }) => data === '[DONE]')).toHaveLength(1)
        expect(messages.filter(({ data }) => data.includes('"role":"assistant"'))).toHaveLength(
          messages.length === 2 ? 0 : 1,
        )
        expect(JSON.stringify(messages)).not.toContain('expand_output')
      }),
    )
  })
})

const GATEWAY_CALL: Item = {
  type: 'function_call',
  call_id: 'call_0',
  name: 'expand_output',
  arguments: '{}',
}
const EMPTY_MESSAGE: Item = { type: 'message', role: 'assistant', content: [] }

function createRound(
  items: readonly Item[],
  ending: Partial<StreamEvent> = {},
): readonly StreamEvent[] {
  return [
    { type: 'answer-started', upstreamId: 'up', model: 'm' },
    ...items.flatMap((item, index): readonly StreamEvent[] => [
      { type: 'item-started', index, item },
      { type: 'item-ended', index, item },
    ]),
    { type: 'answer-ended', finish: 'stop', usage: USAGE, ...ending } as StreamEvent,
  ]
}

function listItems(events: readonly StreamEvent[]): readonly Item[] {
  return events.flatMap((event) => (event.type === 'item-ended' ? [event.item] : []))
}

test('the usage of an answer is the sum of its tool rounds, and newestTokens is the total of the latest round', () => {
  const events = mergeRounds([
    createRound([GATEWAY_CALL]),
    createRound([GATEWAY_CALL]),
    createRound([EMPTY_MESSAGE]),
  ])
  expect(events.at(-1)).toEqual({
    type: 'answer-ended',
    finish: 'stop',
    usage: {
      inputTokens: 21,
      cachedTokens: 12,
      cacheWriteTokens: null,
      outputTokens: 9,
      reasoningTokens: null,
      totalTokens: 30,
      newestTokens: 10,
    },
  })
  expect(mergeRounds([createRound([EMPTY_MESSAGE])]).at(-1)).toMatchObject({ usage: USAGE })
  expect(mergeRounds([createRound([EMPTY_MESSAGE])]).at(-1)).not.toHaveProperty(
    'usage.newestTokens',
  )
})

test('a gateway call gets a new call id if an earlier tool round has used its call id', () => {
  const items = listItems(
    mergeRounds([
      createRound([GATEWAY_CALL]),
      createRound([GATEWAY_CALL]),
      createRound([EMPTY_MESSAGE]),
    ]),
  )
  const ids = items.flatMap((item) => ('call_id' in item ? [item.call_id] : []))
  expect(ids).toEqual(['call_0', 'call_0', 'call_0_2', 'call_0_2'])
})

test('an item without an id after hidden gateway items gets one that is derived from its stored index', () => {
  const [, , last] = listItems(
    mergeRounds([createRound([GATEWAY_CALL]), createRound([EMPTY_MESSAGE])]),
  )
  expect(last?.id).toBe(`msg_${TURN}2`)
})

test('the events of an answer without gateway calls are merged unchanged', () => {
  const events = createRound([EMPTY_MESSAGE])
  expect(mergeRounds([events]).slice(0, -1)).toEqual(events.slice(0, -1))
  for (const [at, event] of mergeRounds([events]).slice(0, -1).entries())
    expect(event).toBe(events[at])
})

test('if a later tool round breaks off, the answer has the usage of the earlier rounds', () => {
  const merger = createRoundEventMerger(TURN, GATEWAY_TOOL_NAMES)
  merger.pushEvents(createRound([GATEWAY_CALL]))
  merger.addOutputs([createGatewayToolOutput('call_0', 'done')])
  merger.startNextRound()
  const failure = createFailure('upstream_broken', 'It broke.')
  expect(merger.failAnswer(failure)).toEqual([{ type: 'answer-failed', failure, usage: USAGE }])
  expect(merger.failAnswer(failure)).toEqual([])
  expect(merger.endAnswer()).toEqual([])
})
