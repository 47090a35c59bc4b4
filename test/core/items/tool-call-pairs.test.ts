import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import {
  UNPAIRED,
  readToolCallIdentity,
  findToolCallPairs,
} from '../../../src/core/items/tool-call-pairs.ts'
import { OPAQUE_PAIRS } from '../../support/conversations.ts'
import { talk } from '../../support/talk.ts'

const partners = (items: readonly Item[]) => [...findToolCallPairs(items)]
const opaque = (raw: Record<string, string | null>): Item => ({ type: 'opaque', raw })

test('a tool call and its output are paired', () => {
  expect(
    partners(talk`
    user: how warm is it?
    call a weather
    output a 4 degrees
    assistant: 4 degrees
  `),
  ).toEqual([UNPAIRED, 2, 1, UNPAIRED])
})

test('parallel tool calls are paired with their outputs by id, and in order if ids repeat', () => {
  expect(
    partners(talk`
    call a
    call b
    call a
    output b
    output a
    output a
  `),
  ).toEqual([4, 3, 5, 1, 0, 2])
})

test('an output with a repeated call id is paired with the later call', () => {
  expect(
    partners(talk`
    call 0
    user: never mind, look here
    call 0
    output 0 here
  `),
  ).toEqual([UNPAIRED, UNPAIRED, 3, 2])
  expect(
    partners(talk`
    call 0
    call 1
    output 1
    call 0
    output 0
  `),
  ).toEqual([UNPAIRED, 2, 1, 4, 3])
})

test('a tool output is not paired with a later call or with a call that already has an output', () => {
  expect(
    partners(talk`
    output a
    call a
    output a
    output a
  `),
  ).toEqual([UNPAIRED, 2, 1, UNPAIRED])
})

test('a tool output after other items is paired with its call', () => {
  expect(
    partners(talk`
    call a
    user: are you there?
    output a yes
  `),
  ).toEqual([2, UNPAIRED, 0])
})

test('a tool call is paired only with an output of its kind', () => {
  expect(
    partners(talk`
    call a
    custom-output a
    custom a
    shell-output a
  `),
  ).toEqual([UNPAIRED, UNPAIRED, UNPAIRED, UNPAIRED])
})

test.each(OPAQUE_PAIRS.map((pair) => pair('id_1')))(
  'an item of type $0.type is paired with one of type $1.type',
  (call, output) => {
    const items: readonly Item[] = [call, output].map((raw) => ({ type: 'opaque', raw }))
    expect(partners(items)).toEqual([1, 0])
    expect(items.map((item) => readToolCallIdentity(item)?.callId)).toEqual(['id_1', 'id_1'])
  },
)

test('an item of a provider-hosted tool is not a tool call', () => {
  const types = ['web_search_call', 'file_search_call', 'mcp_call', 'program', 'vendor:thing_call']
  expect(types.map((type) => readToolCallIdentity(opaque({ type, call_id: 'a' })))).toEqual(
    types.map(() => null),
  )
  expect(readToolCallIdentity(opaque({ type: 'tool_search_call', call_id: null }))).toBe(null)
})

test('a tool call without a name or an id is not paired', () => {
  const [call, output] = talk`
    call a
    output a
  `
  if (call?.type !== 'function_call' || output === undefined) throw new Error('no pair')
  expect(partners([{ ...call, name: '' }, output])).toEqual([UNPAIRED, UNPAIRED])
  expect(partners([{ ...call, call_id: '' }, output])).toEqual([UNPAIRED, UNPAIRED])
  expect(partners([opaque({ type: 'shell_call' }), opaque({ type: 'shell_call_output' })])).toEqual(
    [UNPAIRED, UNPAIRED],
  )
})
