import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { PRESETS } from '../../src/core/context-policy.ts'
import { keepWhere } from '../../src/context/filter-items.ts'
import type { Transform } from '../../src/context/transform-interface.ts'
import { contestantOf, type Contestant } from '../../src/simulate/policy-candidates.ts'
import { costOf } from '../../src/simulate/policy-cost-metrics.ts'
import { play } from '../../src/simulate/simulate-conversation.ts'
import { bodyOf, openTextOf, textInFront } from '../../src/simulate/encode-request-text.ts'
import { scriptOf } from '../../src/simulate/conversation-script.ts'

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

const FRONT = textInFront().length
const chars = (...items: readonly Item[]): number =>
  items.reduce((sum, item) => sum + openTextOf()(item).length, 0)

function under(transform: Transform, stepOf: Contestant['stepOf'] = () => ''): Contestant {
  return { name: transform.name, transforms: [transform], keepsToPrefix: false, stepOf }
}

const ALL: Transform = { name: 'all', run: (items) => ({ items, notes: [] }) }
/** Without the first question, as soon as there is another one. */
const WITHOUT_FIRST: Transform = {
  name: 'without-first',
  run: (items) => keepWhere(items, (at) => at > 0 || items.length < 4, 'windowed'),
}

const [a, b, c] = [user('aaaa'), thought('bbbb'), assistant('cccc')]
const [d, e, f] = [user('dddd'), thought('eeee'), assistant('ffff')]
const script = scriptOf('x', [a, b, c, d, e, f])

describe('the text of a request', () => {
  test('is the body that the wire sends, to the byte', () => {
    const items = [a, b, c, d].map((item) => ({
      ...item,
      origin: { wire: 'responses', account: 'simulated', model: 'simulated', prefixHash: null },
    }))
    const { stream, store, ...body } = bodyOf(items)
    const text = items.map(openTextOf()).join('')
    expect(`${textInFront().slice(0, -1)},"input":[${text.slice(0, -1)}]}`).toBe(
      JSON.stringify(body),
    )
    expect([stream, store]).toEqual([false, false])
  })
})

describe('a conversation that is played', () => {
  test('finds all of the request before in the cache, if nothing is changed', () => {
    const first = FRONT + chars(a)
    const second = FRONT + chars(a, b, c, d)
    const measures = play(script, under(ALL), true)
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
    expect(costOf(measures)).toBeCloseTo(first + (second - first) + first / 10)
  })

  test('finds nothing but what stands in front of the first change', () => {
    const measures = play(script, under(WITHOUT_FIRST), true)
    const shared = '{"type":"'.length
    expect(measures).toMatchObject({
      sent: FRONT + chars(a) + FRONT + chars(b, c, d),
      cached: FRONT + shared,
      breaks: 1,
    })
  })

  test('breaks outside a step, unless the count says that there is one', () => {
    expect(play(script, under(WITHOUT_FIRST), true).breaksOutsideSteps).toBe(1)
    const withStep = under(WITHOUT_FIRST, (said) => `${said.length > 3}`)
    expect(play(script, withStep, true)).toMatchObject({ breaks: 1, breaksOutsideSteps: 0 })
    const unknown = under(WITHOUT_FIRST, null)
    expect(play(script, unknown, true)).toMatchObject({ breaks: 1, breaksOutsideSteps: 0 })
  })

  test('cannot read reasoning any more that was made behind something else', () => {
    expect(play(script, under(WITHOUT_FIRST), true)).toMatchObject({
      reasoning: 1,
      reasoningInvalid: 1,
    })
    expect(play(script, under(WITHOUT_FIRST), false).reasoningInvalid).toBe(0)
  })

  test('can read reasoning no more that was changed, or lost the reasoning before it', () => {
    const two = scriptOf('x', [a, b, thought('more'), c, d])
    const torn: Transform = {
      name: 'torn',
      run: (items) => keepWhere(items, (at) => at !== 1, 'x'),
    }
    expect(play(two, under(torn), true)).toMatchObject({ reasoning: 1, reasoningInvalid: 1 })
    const changed: Transform = {
      name: 'changed',
      run: (items) => ({
        items: items.map((item) => (item.type === 'reasoning' ? thought('other') : item)),
        notes: [],
      }),
    }
    expect(play(two, under(changed), true)).toMatchObject({ reasoning: 2, reasoningInvalid: 2 })
  })

  test('is told from the text, and not from the hash by which the plan tells it', () => {
    const { transforms } = contestantOf('replay', PRESETS.replay, true)
    const late: Transform = {
      name: 'late',
      run: (items) => ({
        items: items.map((item, at) => (at === 0 && items.length > 3 ? user('other') : item)),
        notes: [],
      }),
    }
    // What changes behind the check of the plan, the provider notices.
    const behind: Contestant = { ...under(ALL), transforms: [...transforms, late] }
    expect(play(script, behind, true).reasoningInvalid).toBe(1)
  })

  test('leaves out reasoning that a change in front has made invalid, under a plan of ours', () => {
    const replay = contestantOf('replay', PRESETS.replay, true)
    const edited: Contestant = { ...replay, transforms: [WITHOUT_FIRST, ...replay.transforms] }
    expect(play(script, replay, true)).toMatchObject({ reasoning: 1, reasoningInvalid: 0 })
    expect(play(script, edited, true)).toMatchObject({ reasoning: 0, reasoningInvalid: 0 })
  })

  test('of nothing comes to nothing', () => {
    expect(play({ name: 'x', exchanges: [] }, under(ALL), true).requests).toBe(0)
  })
})
