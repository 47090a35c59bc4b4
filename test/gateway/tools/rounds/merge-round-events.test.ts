/** Several rounds become one answer, whatever is said in them, and its client hears one as well. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent, TokenUsage } from '../../../../src/core/stream-event.ts'
import {
  createGatewayToolOutput,
  isGatewayToolItem,
} from '../../../../src/core/items/gateway-tool-items.ts'
import type { Item } from '../../../../src/core/item.ts'
import { foldAnswerOutcome } from '../../../../src/core/fold-answer-outcome.ts'
import { findToolCallPairs } from '../../../../src/core/items/tool-call-pairs.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import type { AnswerRenderer } from '../../../../src/core/ports/dialect-interface.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { createRoundEventMerger } from '../../../../src/gateway/tools/rounds/merge-round-events.ts'
import { hideGatewayTools } from '../../../../src/gateway/respond/hide-gateway-tools.ts'
import { createAnswerContext as chatAnswering } from '../../../dialects/chat/kit.ts'
import { eventFaults } from '../../../support/event-laws.ts'
import { answer, tangledAnswer } from '../../../support/responses-answers.ts'
import { responsesFaults } from '../../../support/responses-checker.ts'
import { answeringTo } from '../../../support/responses-kit.ts'

const TURN = '01KQZ3V8M6T2X9R4B7C9'
const HOUSE = new Set(['expand_output'])
const USAGE: TokenUsage = {
  inputTokens: 7,
  cachedTokens: 4,
  cacheWriteTokens: null,
  outputTokens: 3,
  reasoningTokens: null,
  totalTokens: 10,
}

/** The rounds as they are joined by somebody who answers every call of the house. */
function joined(rounds: readonly (readonly StreamEvent[])[]): readonly StreamEvent[] {
  const join = createRoundEventMerger(TURN, HOUSE)
  const all: StreamEvent[] = []
  for (const [at, events] of rounds.entries()) {
    for (const event of events) all.push(...join.hear([event]))
    const held = join.held()
    if (join.isOver() || held === null) break
    all.push(
      ...join.put(held.houseCalls.map(({ call_id: id }) => createGatewayToolOutput(id, 'done'))),
    )
    const isLast = at === rounds.length - 1
    if (held.callsOthers || held.finish !== 'stop' || isLast) all.push(...join.end())
    else join.next()
  }
  return all
}

/** Of the calls of an answer some are of the house. */
function withHouse(
  events: readonly StreamEvent[],
  picks: readonly boolean[],
): readonly StreamEvent[] {
  return events.map((event) => {
    if (!('item' in event) || event.item.type !== 'function_call') return event
    const isOurs = picks[event.index % Math.max(1, picks.length)] === true
    return isOurs ? { ...event, item: { ...event.item, name: 'expand_output' } } : event
  })
}

const round = fc
  .tuple(fc.oneof(answer, tangledAnswer), fc.array(fc.boolean(), { maxLength: 4 }))
  .map(([events, picks]) => withHouse(events, picks))
  .filter((events) => eventFaults(events).length === 0)
const rounds = fc.array(round, { minLength: 1, maxLength: 5 })

function rendered(events: readonly StreamEvent[], renderer: AnswerRenderer) {
  const fold = foldAnswerOutcome()
  const messages = events.flatMap((event) => {
    fold.push(event)
    return renderer.push(event)
  })
  return [...messages, ...renderer.end(fold.currentOutcome(), 2)]
}

describe('any rounds', () => {
  test('are one answer with everything that was said', () => {
    fc.assert(
      fc.property(rounds, (told) => {
        expect(eventFaults(joined(told))).toEqual([])
      }),
    )
  })

  test('leave no call of the house without its output, unless the answer failed', () => {
    fc.assert(
      fc.property(rounds, (told) => {
        const events = joined(told)
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

  test('are heard in Responses as one lawful answer without the house', () => {
    fc.assert(
      fc.property(rounds, (told) => {
        const messages = rendered(
          joined(told),
          hideGatewayTools(responsesDialect.createRenderer(answeringTo())),
        )
        expect(responsesFaults(messages)).toEqual([])
        expect(JSON.stringify(messages)).not.toContain('expand_output')
      }),
    )
  })

  test('are heard in Chat Completions as one message', () => {
    fc.assert(
      fc.property(rounds, (told) => {
        const messages = rendered(
          joined(told),
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

const call: Item = {
  type: 'function_call',
  call_id: 'call_0',
  name: 'expand_output',
  arguments: '{}',
}
const words: Item = { type: 'message', role: 'assistant', content: [] }

function roundOf(
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

function itemsIn(events: readonly StreamEvent[]): readonly Item[] {
  return events.flatMap((event) => (event.type === 'item-ended' ? [event.item] : []))
}

test('what an answer has cost is added up, and what it has come to stands beside it', () => {
  const events = joined([roundOf([call]), roundOf([call]), roundOf([words])])
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
  expect(joined([roundOf([words])]).at(-1)).toMatchObject({ usage: USAGE })
  expect(joined([roundOf([words])]).at(-1)).not.toHaveProperty('usage.newestTokens')
})

test('an id that comes again is another one', () => {
  const items = itemsIn(joined([roundOf([call]), roundOf([call]), roundOf([words])]))
  const ids = items.flatMap((item) => ('call_id' in item ? [item.call_id] : []))
  expect(ids).toEqual(['call_0', 'call_0', 'call_0_2', 'call_0_2'])
})

test('an item behind what is not shown is named after the place where it is kept', () => {
  const [, , last] = itemsIn(joined([roundOf([call]), roundOf([words])]))
  expect(last?.id).toBe(`msg_${TURN}2`)
})

test('an answer in which nothing is of the house is passed on as it is', () => {
  const events = roundOf([words])
  expect(joined([events]).slice(0, -1)).toEqual(events.slice(0, -1))
  for (const [at, event] of joined([events]).slice(0, -1).entries()) expect(event).toBe(events[at])
})

test('what breaks off in a later round has cost what came before', () => {
  const join = createRoundEventMerger(TURN, HOUSE)
  join.hear(roundOf([call]))
  join.put([createGatewayToolOutput('call_0', 'done')])
  join.next()
  const failure = createFailure('upstream_broken', 'It broke.')
  expect(join.fail(failure)).toEqual([{ type: 'answer-failed', failure, usage: USAGE }])
  expect(join.fail(failure)).toEqual([])
  expect(join.end()).toEqual([])
})
