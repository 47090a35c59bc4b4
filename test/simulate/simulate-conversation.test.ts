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
import { splitIntoScript } from '../../src/simulate/conversation-script.ts'

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
  stepOf: PolicyCandidate['stepOf'] = () => '',
): PolicyCandidate {
  return { name: transform.name, transforms: [transform], keepsToPrefix: false, stepOf }
}

const ALL: Transform = { name: 'all', run: (items) => ({ items, notes: [] }) }
/** Drops the first question once there is another one. */
const WITHOUT_FIRST: Transform = {
  name: 'without-first',
  run: (items) => filterItems(items, (at) => at > 0 || items.length < 4, 'windowed'),
}

const [a, b, c] = [user('aaaa'), thought('bbbb'), assistant('cccc')]
const [d, e, f] = [user('dddd'), thought('eeee'), assistant('ffff')]
const script = splitIntoScript('x', [a, b, c, d, e, f])

describe('the text of a request', () => {
  test('is byte for byte the body that the wire sends', () => {
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

describe('a simulated conversation', () => {
  test('finds the complete previous request in the cache if nothing changes', () => {
    const first = FRONT + chars(a)
    const second = FRONT + chars(a, b, c, d)
    const measures = simulateConversation(script, under(ALL), true)
    expect(measures).toEqual({
      requests: 2,
      sent: first + second,
      cached: first,
      breaks: 0,
      breaksOutsideSteps: 0,
      reasoning: 1,
      reasoningMade: 1,
      reasoningInvalid: 0,
      largest: second,
    })
    expect(computeTotalCost(measures)).toBeCloseTo(first + (second - first) + first / 10)
  })

  test('finds only the text before the first change in the cache', () => {
    const measures = simulateConversation(script, under(WITHOUT_FIRST), true)
    const shared = '{"type":"'.length
    expect(measures).toMatchObject({
      sent: FRONT + chars(a) + FRONT + chars(b, c, d),
      cached: FRONT + shared,
      breaks: 1,
    })
  })

  test('counts a break outside a step unless the step changes', () => {
    expect(simulateConversation(script, under(WITHOUT_FIRST), true).breaksOutsideSteps).toBe(1)
    const withStep = under(WITHOUT_FIRST, (said) => `${said.length > 3}`)
    expect(simulateConversation(script, withStep, true)).toMatchObject({
      breaks: 1,
      breaksOutsideSteps: 0,
    })
    const unknown = under(WITHOUT_FIRST, null)
    expect(simulateConversation(script, unknown, true)).toMatchObject({
      breaks: 1,
      breaksOutsideSteps: 0,
    })
  })

  test('has invalid reasoning after a changed prefix', () => {
    expect(simulateConversation(script, under(WITHOUT_FIRST), true)).toMatchObject({
      reasoning: 1,
      reasoningInvalid: 1,
    })
    expect(simulateConversation(script, under(WITHOUT_FIRST), false).reasoningInvalid).toBe(0)
  })

  test('has invalid reasoning if it was changed or earlier reasoning is missing', () => {
    const two = splitIntoScript('x', [a, b, thought('more'), c, d])
    const torn: Transform = {
      name: 'torn',
      run: (items) => filterItems(items, (at) => at !== 1, 'x'),
    }
    expect(simulateConversation(two, under(torn), true)).toMatchObject({
      reasoning: 1,
      reasoningInvalid: 1,
    })
    const changed: Transform = {
      name: 'changed',
      run: (items) => ({
        items: items.map((item) => (item.type === 'reasoning' ? thought('other') : item)),
        notes: [],
      }),
    }
    expect(simulateConversation(two, under(changed), true)).toMatchObject({
      reasoning: 2,
      reasoningInvalid: 2,
    })
  })

  test("checks reasoning by the text instead of the gateway's hash", () => {
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
    expect(simulateConversation(script, behind, true).reasoningInvalid).toBe(1)
  })

  test("drops invalid reasoning with the gateway's transforms", () => {
    const replay = createPolicyCandidate('replay', PRESETS.replay, true)
    const edited: PolicyCandidate = { ...replay, transforms: [WITHOUT_FIRST, ...replay.transforms] }
    expect(simulateConversation(script, replay, true)).toMatchObject({
      reasoning: 1,
      reasoningInvalid: 0,
    })
    expect(simulateConversation(script, edited, true)).toMatchObject({
      reasoning: 0,
      reasoningInvalid: 0,
    })
  })

  test('without exchanges has no requests', () => {
    expect(simulateConversation({ name: 'x', exchanges: [] }, under(ALL), true).requests).toBe(0)
  })
})
