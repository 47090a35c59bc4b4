import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { findToolCallPairs } from '../../../src/core/items/tool-call-pairs.ts'
import { findDuplicateCalls } from '../../../src/context/tool-calls/find-duplicate-calls.ts'
import { OPAQUE_PAIRS } from '../../support/conversations.ts'
import { talk } from '../../support/talk.ts'
import { expectLinear } from '../../support/count-reads.ts'

const origin = { wire: 'responses', account: 'a', model: 'm', prefixHash: null }

function copies(...items: readonly Item[]): readonly number[] {
  return [...findDuplicateCalls(items, findToolCallPairs(items))].toSorted((a, b) => a - b)
}

/** As they come from the store, where only what the model made has an origin. */
function recorded(items: readonly Item[]): readonly Item[] {
  return items.map((item) => ('output' in item ? item : { ...item, origin }))
}

const PAIR = talk`
  call a weather {"city":"Rome","days":2}
  output a sunny
`

test('of a recorded pair and the client’s copy the first one stands', () => {
  expect(copies(...recorded(PAIR), ...PAIR)).toEqual([2, 3])
  expect(copies(...PAIR, ...recorded(PAIR))).toEqual([2, 3])
  expect(copies(...talk`user: hi`, ...PAIR, ...talk`assistant: hm`, ...recorded(PAIR))).toEqual([
    4, 5,
  ])
})

test('arguments are compared by what they mean', () => {
  const same = talk`
    call a weather { "days": 2, "city": "Rome" }
    output a sunny
  `
  expect(copies(...recorded(PAIR), ...same)).toEqual([2, 3])
  const [call, output] = talk`
    call a now {}
    output a noon
  `
  if (call?.type !== 'function_call' || output === undefined) throw new Error('no pair')
  expect(copies({ ...call, arguments: '', origin }, output, call, output)).toEqual([2, 3])
})

test.each([
  ['other arguments', talk`call a weather {"city":"Oslo","days":2}`, talk`output a sunny`],
  ['another name', talk`call a climate {"city":"Rome","days":2}`, talk`output a sunny`],
  ['another output', talk`call a weather {"city":"Rome","days":2}`, talk`output a rain`],
  ['another id', talk`call b weather {"city":"Rome","days":2}`, talk`output b sunny`],
  ['another kind', talk`custom a weather {"city":"Rome","days":2}`, talk`custom-output a sunny`],
])('with %s it is another pair', (_, call, output) => {
  expect(copies(...recorded(PAIR), ...call, ...output)).toEqual([])
})

test('an image that only one of them has is not lost', () => {
  const [call] = PAIR
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' } as const
  const output = [{ type: 'input_text', text: 'sunny' } as const, image]
  const seen: Item = { type: 'function_call_output', call_id: 'a', output }
  if (call === undefined) throw new Error('no call')
  expect(copies(...recorded(PAIR), call, seen)).toEqual([])
  expect(copies({ ...call, origin }, seen, call, seen)).toEqual([2, 3])
})

test('a model that asks twice is given both answers, even if they are the same', () => {
  expect(copies(...PAIR, ...PAIR)).toEqual([])
  expect(copies(...recorded(PAIR), ...recorded(PAIR))).toEqual([])
})

test('one item that is there twice is a copy of itself', () => {
  const named = PAIR.map((item, at) => ({ ...item, id: `fc_${at}` }))
  expect(copies(...named, ...named)).toEqual([2, 3])
})

test('in another round it is another pair', () => {
  expect(copies(...recorded(PAIR), ...talk`user: and now?`, ...PAIR)).toEqual([])
})

test('of a call that is there twice with one output between them, one goes', () => {
  const [call, output] = PAIR
  if (call === undefined || output === undefined) throw new Error('no pair')
  expect(copies({ ...call, origin }, call, output)).toEqual([1])
  expect(copies(call, call, output)).toEqual([1])
  expect(copies(call, output, { ...call, origin })).toEqual([2])
  expect(copies({ ...call, origin }, call)).toEqual([1])
  expect(copies(call, call)).toEqual([])
})

test.each(OPAQUE_PAIRS.map((pair) => pair('id_1')))('finds them of $0.type', (call, output) => {
  const pair: readonly Item[] = [call, output].map((raw) => ({ type: 'opaque', raw }))
  expect(copies(...recorded(pair).slice(0, 1), ...pair.slice(1), ...pair)).toEqual([2, 3])
})

test('what is nested too deeply to be compared is compared as it is written', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const pair = talk`
    call a weather ${deep}
    output a sunny
  `
  expect(copies(...recorded(pair), ...pair)).toEqual([2, 3])
})

test('of many calls of one id none is looked at again for each of the others', () => {
  const [call] = PAIR
  if (call === undefined) throw new Error('no call')
  const calls = (count: number) =>
    Array.from({ length: count }).flatMap((_, at): readonly Item[] => [
      at % 2 === 0 ? call : { ...call, origin },
      ...(at % 3 === 0 ? [] : talk`output a ${String(at)}`),
    ])
  expectLinear(2000, calls, (items) => findDuplicateCalls(items, findToolCallPairs(items)))
})
