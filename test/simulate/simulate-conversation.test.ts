import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { PRESETS } from '../../src/core/context-policy.ts'
import { filterItems } from '../../src/context/edit-items.ts'
import type { Transform } from '../../src/context/transform-interface.ts'
import {
  createPolicyCandidate,
  type PolicyCandidate,
} from '../../src/simulate/policy-candidates.ts'
import { computeTotalCost } from '../../src/simulate/policy-cost-metrics.ts'
import { simulateConversation } from '../../src/simulate/simulate-conversation.ts'
import {
  encodeRequestBody,
  createItemEncoder,
  encodeLeadingFields,
} from '../../src/simulate/encode-request-text.ts'
import { createScriptFromItems } from '../../src/simulate/conversation-script.ts'

const user = (text: string): Item => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})
const assistant = (text: string): Item => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
})
const thought = (sealed: string): Item => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: sealed,
})

const FRONT = encodeLeadingFields().length
const chars = (...items: readonly Item[]): number =>
  items.reduce((sum, item) => sum + createItemEncoder()(item).length, 0)

function under(
  transform: Transform,
  stepOf: PolicyCandidate['computeStepKey'] = () => '',
): PolicyCandidate {
  return {
    name: transform.name,
    transforms: [transform],
    dropsInvalidReasoning: false,
    computeStepKey: stepOf,
  }
}

const ALL: Transform = { name: 'all', run: (items) => ({ items, notes: [] }) }
/** Drops the first question once there is another one. */
const WITHOUT_FIRST: Transform = {
  name: 'without-first',
  run: (items) => filterItems(items, (at) => at > 0 || items.length < 4, 'windowed'),
}

const [a, b, c] = [user('aaaa'), thought('bbbb'), assistant('cccc')]
const [d, e, f] = [user('dddd'), thought('eeee'), assistant('ffff')]
const script = createScriptFromItems('x', [a, b, c, d, e, f])

describe('text of a simulated request', () => {
  test('the text of a simulated request is byte for byte the body that would be sent', () => {
    const items = [a, b, c, d].map((item) => ({
      ...item,
      origin: { wire: 'responses', account: 'simulated', model: 'simulated', prefixHash: null },
    }))
    const { stream, store, ...body } = encodeRequestBody(items)
    const text = items.map(createItemEncoder()).join('')
    expect(`${encodeLeadingFields().slice(0, -1)},"input":[${text.slice(0, -1)}]}`).toBe(
      JSON.stringify(body),
    )
    expect([stream, store]).toEqual([false, false])
  })
})

describe('measurements of a simulated conversation', () => {
  test('in the simulation, the complete previous request counts as cached if the next request begins with it', () => {
    const first = FRONT + chars(a)
    const second = FRONT + chars(a, b, c, d)
    const measures = simulateConversation(script, under(ALL), true)
    expect(measures).toEqual({
      requests: 2,
      sentChars: first + second,
      cachedChars: first,
      prefixBreaks: 0,
      unexpectedBreaks: 0,
      sentReasoning: 1,
      existingReasoning: 1,
      invalidReasoning: 0,
      largestRequestChars: second,
    })
    expect(computeTotalCost(measures)).toBeCloseTo(first + (second - first) + first / 10)
  })

  test('in the simulation, only the text before the first change counts as cached', () => {
    const measures = simulateConversation(script, under(WITHOUT_FIRST), true)
    const shared = '{"type":"'.length
    expect(measures).toMatchObject({
      sentChars: FRONT + chars(a) + FRONT + chars(b, c, d),
      cachedChars: FRONT + shared,
      prefixBreaks: 1,
    })
  })

  test("in the simulation, a changed prefix counts as an unexpected cache miss if the policy's step key stays the same", () => {
    expect(simulateConversation(script, under(WITHOUT_FIRST), true).unexpectedBreaks).toBe(1)
    const withStep = under(WITHOUT_FIRST, (said) => `${said.length > 3}`)
    expect(simulateConversation(script, withStep, true)).toMatchObject({
      prefixBreaks: 1,
      unexpectedBreaks: 0,
    })
    const unknown = under(WITHOUT_FIRST, null)
    expect(simulateConversation(script, unknown, true)).toMatchObject({
      prefixBreaks: 1,
      unexpectedBreaks: 0,
    })
  })

  test('in the simulation, reasoning after a changed prefix counts as invalid', () => {
    expect(simulateConversation(script, under(WITHOUT_FIRST), true)).toMatchObject({
      sentReasoning: 1,
      invalidReasoning: 1,
    })
    expect(simulateConversation(script, under(WITHOUT_FIRST), false).invalidReasoning).toBe(0)
  })

  test('in the simulation, reasoning counts as invalid if its own content was changed, or if earlier reasoning is missing', () => {
    const two = createScriptFromItems('x', [a, b, thought('more'), c, d])
    const torn: Transform = {
      name: 'torn',
      run: (items) => filterItems(items, (at) => at !== 1, 'x'),
    }
    expect(simulateConversation(two, under(torn), true)).toMatchObject({
      sentReasoning: 1,
      invalidReasoning: 1,
    })
    const changed: Transform = {
      name: 'changed',
      run: (items) => ({
        items: items.map((item) => (item.type === 'reasoning' ? thought('other') : item)),
        notes: [],
      }),
    }
    expect(simulateConversation(two, under(changed), true)).toMatchObject({
      sentReasoning: 2,
      invalidReasoning: 2,
    })
  })

  test("the simulated provider checks reasoning by the text before it, not by the gateway's hash of the prefix", () => {
    const { transforms } = createPolicyCandidate('replay', PRESETS.replay, true)
    const late: Transform = {
      name: 'late',
      run: (items) => ({
        items: items.map((item, at) => (at === 0 && items.length > 3 ? user('other') : item)),
        notes: [],
      }),
    }
    // The provider notices changes that come after the gateway's check.
    const behind: PolicyCandidate = { ...under(ALL), transforms: [...transforms, late] }
    expect(simulateConversation(script, behind, true).invalidReasoning).toBe(1)
  })

  test("in the simulation, the gateway's transforms drop reasoning whose prefix has changed", () => {
    const replay = createPolicyCandidate('replay', PRESETS.replay, true)
    const edited: PolicyCandidate = { ...replay, transforms: [WITHOUT_FIRST, ...replay.transforms] }
    expect(simulateConversation(script, replay, true)).toMatchObject({
      sentReasoning: 1,
      invalidReasoning: 0,
    })
    expect(simulateConversation(script, edited, true)).toMatchObject({
      sentReasoning: 0,
      invalidReasoning: 0,
    })
  })

  test('simulating a conversation without exchanges sends no requests', () => {
    expect(simulateConversation({ name: 'x', exchanges: [] }, under(ALL), true).requests).toBe(0)
  })
})
