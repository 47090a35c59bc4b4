import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { GatewayError } from '../../../../src/core/errors/gateway-error.ts'
import { parseBody } from '../../../support/responses-kit.ts'

function parseOverflow(body: JsonObject) {
  return parseBody({ model: 'm', input: 'hi', ...body }).overflow
}

function readRejectedParam(body: JsonObject): unknown {
  try {
    parseOverflow(body)
  } catch (error) {
    if (error instanceof GatewayError) return error.failure.param
  }
  return 'accepted'
}

test('a Responses request without options neither compacts nor truncates a conversation', () => {
  const defaults = { compactAbove: null, compactNow: false, truncation: 'disabled' }
  expect(parseOverflow({})).toEqual(defaults)
  expect(parseOverflow({ context_management: null, truncation: null })).toEqual(defaults)
  expect(parseOverflow({ context_management: [] })).toEqual(defaults)
})

test('the lowest compaction threshold of a request applies, or the context window if no entry has one', () => {
  const above = (...thresholds: readonly (number | null)[]) =>
    parseOverflow({
      context_management: thresholds.map((compact_threshold) => ({
        type: 'compaction',
        compact_threshold,
      })),
    })?.compactAbove
  expect(above(5000)).toBe(5000)
  expect(above(5000, 3000, null)).toBe(3000)
  expect(above(null)).toBe('window')
})

test('a `compaction_trigger` item at the end of the input requests an immediate compaction', () => {
  const input = [{ role: 'user', content: 'hi' }, { type: 'compaction_trigger' }]
  expect(parseOverflow({ input })?.compactNow).toBe(true)
})

describe('rejection of invalid overflow options', () => {
  test.each([
    ['input', { input: [{ type: 'compaction_trigger' }, { role: 'user', content: 'hi' }] }],
    ['truncation', { truncation: 'sometimes' }],
    ['context_management', { context_management: 'auto' }],
    ['context_management[0]', { context_management: [4] }],
    ['context_management[0].type', { context_management: [{ compact_threshold: 5 }] }],
    ['context_management[0].type', { context_management: [{ type: 'forgetting' }] }],
    [
      'context_management[1].compact_threshold',
      {
        context_management: [{ type: 'compaction' }, { type: 'compaction', compact_threshold: 0 }],
      },
    ],
    ['max_tool_calls', { max_tool_calls: 0 }],
    ['max_tool_calls', { max_tool_calls: 'all' }],
    ['generate', { generate: 'no' }],
  ] as const)('a Responses request with an invalid value of `%s` is rejected', (param, body) => {
    expect(readRejectedParam(body as JsonObject)).toBe(param)
  })
})
