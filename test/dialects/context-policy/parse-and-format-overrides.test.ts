import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { resolvePolicy, POLICY_NAMES } from '../../../src/core/context-policy.ts'
import {
  readStoredPolicyOverrides,
  readPolicyOverrides,
  formatPolicyOverrides,
} from '../../../src/dialects/context-policy/parse-and-format-overrides.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'

const read = (value: unknown) => readPolicyOverrides(value, 'backstory')

test('the name of a policy is accepted as policy overrides', () => {
  expect(read('lean')).toEqual({ policy: 'lean' })
})

test('policy overrides are read with underscores in their field names', () => {
  expect(read({ policy: 'retain', outputs: { keep_turns: 3 }, window: { turns: null } })).toEqual({
    policy: 'retain',
    outputs: { keepTurns: 3 },
    window: { turns: null },
  })
})

test('a section of policy overrides that is absent or null is left out of the result', () => {
  expect(read({})).toEqual({})
  expect(read({ window: null, media: {} })).toEqual({ media: {} })
})

const withSchema = (schema: object) => ({ layers: { schema } })
const nestSchema = (depth: number): object => (depth === 0 ? {} : { not: nestSchema(depth - 1) })

test('a valid JSON Schema of working memory is returned unchanged', () => {
  const schema = {
    type: 'object',
    properties: { pattern: { type: ['string', 'null'] }, $ref: true },
    required: ['pattern'],
    additionalProperties: false,
  }
  expect(read(withSchema(schema))).toEqual(withSchema(schema))
  expect(read({ layers: { schema: null } })).toEqual({ layers: { schema: null } })
})

describe('rejection of invalid policy overrides', () => {
  test.each([
    ['frugal', 'backstory', 'invalid_value'],
    [7, 'backstory', 'invalid_type'],
    [[], 'backstory', 'invalid_type'],
    [{ policy: 'frugal' }, 'backstory.policy', 'invalid_value'],
    [{ windows: {} }, 'backstory.windows', 'unknown_parameter'],
    [{ window: 40 }, 'backstory.window', 'invalid_type'],
    [{ window: { item: 40 } }, 'backstory.window.item', 'unknown_parameter'],
    [{ window: { items: 0 } }, 'backstory.window.items', 'integer_below_min_value'],
    [{ window: { items: 2.5 } }, 'backstory.window.items', 'invalid_type'],
    [{ window: { items: '40' } }, 'backstory.window.items', 'invalid_type'],
    [{ outputs: { keepTurns: 3 } }, 'backstory.outputs.keepTurns', 'unknown_parameter'],
    [{ outputs: { step: null } }, 'backstory.outputs.step', 'invalid_type'],
    [{ reasoning: { keep: 'never' } }, 'backstory.reasoning.keep', 'invalid_value'],
    [{ notes: { entries: [{}] } }, 'backstory.notes.entries[0].text', 'missing_required_parameter'],
    [
      { notes: { entries: [{ text: 'x', depth: -1 }] } },
      'backstory.notes.entries[0].depth',
      'integer_below_min_value',
    ],
    [
      { notes: { entries: [{ text: 'x', deep: 1 }] } },
      'backstory.notes.entries[0].deep',
      'unknown_parameter',
    ],
    [{ toString: {} }, 'backstory.toString', 'unknown_parameter'],
    [{ constructor: { name: 'x' } }, 'backstory.constructor', 'unknown_parameter'],
    [{ speakers: { persona: '' } }, 'backstory.speakers.persona', 'invalid_value'],
    [{ speakers: { hidden: ['a', ' '] } }, 'backstory.speakers.hidden[1]', 'invalid_value'],
    [{ speakers: { hidden: ['a', 1] } }, 'backstory.speakers.hidden[1]', 'invalid_type'],
    [{ layers: { schema: [] } }, 'backstory.layers.schema', 'invalid_type'],
    [withSchema({ type: 'text' }), 'backstory.layers.schema.type', 'invalid_value'],
    [withSchema({ items: 7 }), 'backstory.layers.schema.items', 'invalid_type'],
    [
      withSchema({ properties: { a: { minLength: -1 } } }),
      'backstory.layers.schema.properties.a.minLength',
      'invalid_value',
    ],
    // Checking a recursive reference or a pattern could take exponential time.
    [withSchema({ $ref: '#' }), 'backstory.layers.schema.$ref', 'unknown_parameter'],
    [
      withSchema({ anyOf: [{}, { pattern: '(a+)+$' }] }),
      'backstory.layers.schema.anyOf[1].pattern',
      'unknown_parameter',
    ],
    [withSchema(nestSchema(20)), `backstory.layers.schema${'.not'.repeat(16)}`, 'invalid_value'],
    [withSchema({ title: 'x'.repeat(5000) }), 'backstory.layers.schema', 'invalid_value'],
    [
      { outputs: { head: 600, tail: 200, longer_than: 800 } },
      'backstory.outputs.longer_than',
      'invalid_value',
    ],
    [
      { outputs: { head: 3000, longer_than: 800 } },
      'backstory.outputs.longer_than',
      'invalid_value',
    ],
    [{ budget: { window: 1000, reserve: 1000 } }, 'backstory.budget.reserve', 'invalid_value'],
    [{ summaries: { above: 64 } }, 'backstory.summaries.above', 'invalid_value'],
    [{ summaries: { trigger: 'tokens', above: 2 } }, 'backstory.summaries.above', 'invalid_value'],
    [{ summaries: { by: 'upstream', above: 999 } }, 'backstory.summaries.above', 'invalid_value'],
  ])('the policy overrides %j are rejected with the path of the fault', (value, param, code) => {
    const fault = readFault(value)
    expect(fault?.failure).toMatchObject({ status: 400, param, code })
    expect(fault?.message).toContain(param)
  })

  test('any JSON value is either read as policy overrides or rejected with a GatewayError', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const fault = readFault(value)
        if (fault === null) expect(() => resolvePolicy([read(value)])).not.toThrow()
        else expect(fault).toBeInstanceOf(GatewayError)
      }),
    )
  })
})

test('one error lists all faults of policy overrides, and its param is the path of the first fault', () => {
  const fault = readFault({ outputs: { step: 0, nope: 1 }, media: { images: -3 }, more: 1 })
  expect(fault?.failure).toMatchObject({ status: 400, param: 'backstory.outputs.step' })
  for (const path of ['outputs.step', 'outputs.nope', 'media.images', 'more']) {
    expect(fault?.message).toMatch(new RegExp(`'backstory.${path}'[^.]*\\.[^.]*`))
  }
})

test('contradicting numbers are accepted if they are in different policy overrides, or in stored overrides', () => {
  const [ofSetting, ofRequest] = [{ budget: { window: 1000 } }, { budget: { reserve: 5000 } }].map(
    read,
  )
  expect(resolvePolicy([ofSetting ?? null, ofRequest ?? null]).budget).toMatchObject({
    window: 1000,
    reserve: 5000,
  })
  expect(read({ outputs: { head: 3000, tail: 3000 } }).outputs?.head).toBe(3000)
  expect(read({ budget: { window: null, reserve: 5000 } }).budget?.reserve).toBe(5000)
  const stored = { budget: { window: 1000, reserve: 5000 } }
  expect(readStoredPolicyOverrides(stored, 'context')).toEqual(stored)
})

test('the error for a percentage in `summaries.above` says what to write', () => {
  expect(readFault({ summaries: { trigger: 'tokens', above: 64 } })?.message).toContain(
    'must be a share of the context window (for 64 %, write 0.64), or at least 1000 tokens, but is 64. For a number of turns, set `trigger` to `turns` with it.',
  )
})

test('`summaries.above` is a share, at least 1000 tokens, or any number of turns', () => {
  for (const above of [0, 0.64, 1, 1000, 50_000])
    expect(read({ summaries: { trigger: 'tokens', above } }).summaries?.above).toBe(above)
  expect(read({ summaries: { trigger: 'turns', above: 8 } }).summaries?.above).toBe(8)
  // Stored overrides of an earlier version stay in force.
  const stored = { summaries: { above: 300 } }
  expect(readStoredPolicyOverrides(stored, 'context')).toEqual(stored)
})

test('formatPolicyOverrides reverses readPolicyOverrides', () => {
  const value = {
    policy: POLICY_NAMES[2],
    window: { items: 4, turns: null },
    outputs: { keep_turns: 0, longer_than: 5 },
    notes: { entries: [{ text: 'x', depth: 2, role: 'user' }], mode: 'replace' },
    speakers: { act_as: 'Ann' },
  }
  expect(formatPolicyOverrides(read(value))).toEqual(value)
})

function readFault(value: unknown): GatewayError | null {
  try {
    read(value)
    return null
  } catch (error) {
    return error as GatewayError
  }
}
