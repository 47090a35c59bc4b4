import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { findToolCallPairs } from '../../../src/core/items/tool-call-pairs.ts'
import { findCopiesOfCalls } from '../../../src/context/tool-calls/find-copies-of-calls.ts'
import { OPAQUE_PAIRS } from '../../support/conversations.ts'
import { talk } from '../../support/talk.ts'
import { expectLinear } from '../../support/count-reads.ts'

const origin = { wire: 'responses', account: 'a', model: 'm', prefixHash: null }

function findCopies(...items: readonly Item[]): readonly number[] {
  return [...findCopiesOfCalls(items, findToolCallPairs(items))].toSorted((a, b) => a - b)
}

/** Items as the store returns them: only model items have an origin. */
function asStored(items: readonly Item[]): readonly Item[] {
  return items.map((item) => ('output' in item ? item : { ...item, origin }))
}

const PAIR = talk`
  call a weather {"city":"Rome","days":2}
  output a sunny
`

test('if a client sends a call that is also stored, the second of the two in the list is the copy', () => {
  expect(findCopies(...asStored(PAIR), ...PAIR)).toEqual([2, 3])
  expect(findCopies(...PAIR, ...asStored(PAIR))).toEqual([2, 3])
  expect(findCopies(...talk`user: hi`, ...PAIR, ...talk`assistant: hm`, ...asStored(PAIR))).toEqual(
    [4, 5],
  )
})

test("a client's call is a copy of the stored call even if its arguments are the same JSON in another notation", () => {
  const same = talk`
    call a weather { "days": 2, "city": "Rome" }
    output a sunny
  `
  expect(findCopies(...asStored(PAIR), ...same)).toEqual([2, 3])
  const [call, output] = talk`
    call a now {}
    output a noon
  `
  if (call?.type !== 'function_call' || output === undefined) throw new Error('no pair')
  expect(findCopies({ ...call, arguments: '', origin }, output, call, output)).toEqual([2, 3])
})

test.each([
  ['other arguments', talk`call a weather {"city":"Oslo","days":2}`, talk`output a sunny`],
  ['another name', talk`call a climate {"city":"Rome","days":2}`, talk`output a sunny`],
  ['another output', talk`call a weather {"city":"Rome","days":2}`, talk`output a rain`],
  ['another id', talk`call b weather {"city":"Rome","days":2}`, talk`output b sunny`],
  ['another kind', talk`custom a weather {"city":"Rome","days":2}`, talk`custom-output a sunny`],
])("a client's call with %s is no copy of the stored call", (_, call, output) => {
  expect(findCopies(...asStored(PAIR), ...call, ...output)).toEqual([])
})

test("a client's call is no copy of the stored call if only one of their outputs has an image", () => {
  const [call] = PAIR
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' } as const
  const output = [{ type: 'input_text', text: 'sunny' } as const, image]
  const seen: Item = { type: 'function_call_output', call_id: 'a', output }
  if (call === undefined) throw new Error('no call')
  expect(findCopies(...asStored(PAIR), call, seen)).toEqual([])
  expect(findCopies({ ...call, origin }, seen, call, seen)).toEqual([2, 3])
})

test('two equal calls that both come from the client, or both from the store, are no copies', () => {
  expect(findCopies(...PAIR, ...PAIR)).toEqual([])
  expect(findCopies(...asStored(PAIR), ...asStored(PAIR))).toEqual([])
})

test('of two equal calls with the same item id, one is a copy, even if both come from the client', () => {
  const named = PAIR.map((item, at) => ({ ...item, id: `fc_${at}` }))
  expect(findCopies(...named, ...named)).toEqual([2, 3])
})

test("a client's call is no copy of an equal stored call in another round", () => {
  expect(findCopies(...asStored(PAIR), ...talk`user: and now?`, ...PAIR)).toEqual([])
})

test('if two equal calls share one output, one of them is a copy', () => {
  const [call, output] = PAIR
  if (call === undefined || output === undefined) throw new Error('no pair')
  expect(findCopies({ ...call, origin }, call, output)).toEqual([1])
  expect(findCopies(call, call, output)).toEqual([1])
  expect(findCopies(call, output, { ...call, origin })).toEqual([2])
  expect(findCopies({ ...call, origin }, call)).toEqual([1])
  expect(findCopies(call, call)).toEqual([])
})

test.each(OPAQUE_PAIRS.map((pair) => pair('id_1')))(
  "a client's call of the type $0.type is a copy of the stored one with the same id and output, and so is its output",
  (call, output) => {
    const pair: readonly Item[] = [call, output].map((raw) => ({ type: 'opaque', raw }))
    expect(findCopies(...asStored(pair).slice(0, 1), ...pair.slice(1), ...pair)).toEqual([2, 3])
  },
)

test('calls whose arguments are nested too deeply for JSON are copies if their arguments are the same text', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const pair = talk`
    call a weather ${deep}
    output a sunny
  `
  expect(findCopies(...asStored(pair), ...pair)).toEqual([2, 3])
})

test('finding copies of calls takes linear time for many calls with the same id', () => {
  const [call] = PAIR
  if (call === undefined) throw new Error('no call')
  const calls = (count: number) =>
    Array.from({ length: count }).flatMap((_, at): readonly Item[] => [
      at % 2 === 0 ? call : { ...call, origin },
      ...(at % 3 === 0 ? [] : talk`output a ${String(at)}`),
    ])
  expectLinear(2000, calls, (items) => findCopiesOfCalls(items, findToolCallPairs(items)))
})

test('calls with arguments that are too large to be parsed are copies if their texts are equal', () => {
  const large = (text: string): readonly Item[] =>
    PAIR.map((item) => (item.type === 'function_call' ? { ...item, arguments: text } : item))
  for (const text of [`[${'{},'.repeat(100_000)}{}]`, '['.repeat(100_000)]) {
    expect(findCopies(...asStored(large(text)), ...large(text))).toEqual([2, 3])
    expect(findCopies(...asStored(large(text)), ...large(`${text} `))).toEqual([])
  }
})

test('calls whose arguments have too many values together are copies if their texts are equal', () => {
  const pairs = Array.from({ length: 20 }, (_, at) =>
    PAIR.map((item) =>
      item.type === 'function_call'
        ? { ...item, arguments: `[${at}${',{}'.repeat(19_000)}]` }
        : item,
    ),
  ).flat()
  expect(findCopies(...asStored(pairs), ...pairs)).toHaveLength(pairs.length)
})
