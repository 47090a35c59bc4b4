/** Tests ids of calls for which the upstream sends none, on every wire. */
import { describe, expect, test } from 'vitest'
import { createOutcomeCollector } from '../../../src/core/collect-answer-outcome.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { createCallIdGenerator } from '../../../src/providers/response/generate-call-ids.ts'
import type { WireName } from '../../../src/providers/provider-interface.ts'
import { PROVIDERS } from '../../../src/providers/provider-registry.ts'
import { findEventFaults } from '../../support/event-laws.ts'
import { plainAccount } from '../../support/account.ts'

describe('ids of tool calls in an answer', () => {
  test("the call id generator returns an upstream's id for its first use", () => {
    const idFor = createCallIdGenerator(() => 'up-1', [])
    expect([idFor('a'), idFor('b')]).toEqual(['a', 'b'])
    expect(idFor('a')).toMatch(/^call_[0-9a-zA-Z]{9}$/)
  })

  test('generated call ids are equal if an answer is decoded again, and differ between calls and answers', () => {
    const ids = (answer: string) => {
      const idFor = createCallIdGenerator(() => answer, [])
      return [idFor(''), idFor(''), idFor('')]
    }
    expect(ids('up-1')).toEqual(ids('up-1'))
    expect(new Set([...ids('up-1'), ...ids('up-2')]).size).toBe(6)
  })

  test("the call id generator reads the answer's id only when it must generate an id", () => {
    const idFor = createCallIdGenerator(() => {
      throw new Error('Nobody knows yet.')
    }, [])
    expect(idFor('a')).toBe('a')
  })
})

test.each<readonly [WireName, JsonObject]>([
  [
    'chat',
    {
      choices: [
        {
          message: {
            tool_calls: [
              { function: { name: 'f', arguments: '{}' } },
              { id: '', function: { name: 'f', arguments: '{}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
  ],
  [
    'anthropic',
    {
      type: 'message',
      content: [
        { type: 'tool_use', name: 'f', input: {} },
        { type: 'tool_use', id: '', name: 'f', input: {} },
      ],
      stop_reason: 'tool_use',
    },
  ],
  [
    'gemini',
    {
      candidates: [
        {
          content: { parts: [{ functionCall: { name: 'f' } }, { functionCall: { name: 'f' } }] },
          finishReason: 'STOP',
        },
      ],
    },
  ],
  [
    'responses',
    {
      id: 'resp_1',
      status: 'completed',
      output: [
        { type: 'function_call', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: '', name: 'f', arguments: '{}' },
      ],
    },
  ],
])(
  'an answer of the wire %s with repeated or missing call ids gets a distinct id for every call',
  (wire, body) => {
    const events = PROVIDERS[wire].decodeBody(body, plainAccount(wire))
    expect(findEventFaults(events)).toEqual([])
    const fold = createOutcomeCollector()
    for (const event of events) fold.push(event)
    const ids = fold.currentOutcome().items.map((item) => ('call_id' in item ? item.call_id : ''))
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
    expect(ids).not.toContain('')
  },
)
