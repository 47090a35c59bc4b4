import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { GatewayError } from '../../../../src/core/errors/gateway-error.ts'
import { parsed } from '../../../support/responses-kit.ts'

function contextOf(body: JsonObject) {
  return parsed({ model: 'm', input: 'hi', ...body }).overflow
}

function refusalOf(body: JsonObject): unknown {
  try {
    contextOf(body)
  } catch (error) {
    if (error instanceof GatewayError) return error.failure.param
  }
  return 'not refused'
}

test('without a word nothing is compacted or cut', () => {
  const silent = { compactAbove: null, compactNow: false, truncation: 'disabled' }
  expect(contextOf({})).toEqual(silent)
  expect(contextOf({ context_management: null, truncation: null })).toEqual(silent)
  expect(contextOf({ context_management: [] })).toEqual(silent)
})

test('the lowest threshold counts; without one it is the window', () => {
  const above = (...thresholds: readonly (number | null)[]) =>
    contextOf({
      context_management: thresholds.map((compact_threshold) => ({
        type: 'compaction',
        compact_threshold,
      })),
    })?.compactAbove
  expect(above(5000)).toBe(5000)
  expect(above(5000, 3000, null)).toBe(3000)
  expect(above(null)).toBe('window')
})

test('a trigger at the end asks for a compaction at once', () => {
  const input = [{ role: 'user', content: 'hi' }, { type: 'compaction_trigger' }]
  expect(contextOf({ input })?.compactNow).toBe(true)
})

describe('refused with the place', () => {
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
  ] as const)('%s', (param, body) => {
    expect(refusalOf(body as JsonObject)).toBe(param)
  })
})
