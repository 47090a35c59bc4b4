import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { dropRepeatedHistory } from '../../src/recall/drop-repeated-history.ts'
import { tidyConversation } from '../support/conversations.ts'
import { assistantMessage } from '../support/recalled-stories.ts'
import { show, talk } from '../support/talk.ts'

const history = talk`
  user: hello
  assistant: Hi!
  user: how warm is it?
  thinks: where?
  assistant: Let me look.
  call a weather {"in":"Rome"}
`

test("if the client sends the stored answer again before the output of that answer's tool call, the repeated answer is dropped", () => {
  const items = talk`
    assistant: Let me look.
    call a weather {"in": "Rome"}
    output a 4 degrees
  `
  const step = dropRepeatedHistory(history, items)
  expect(show(step.items)).toBe('output a 4 degrees')
  expect(step.items[0]).toBe(items[2])
  expect(step.notes).toEqual([
    { did: 'dropped', at: 0, why: 'already-remembered' },
    { did: 'dropped', at: 1, why: 'already-remembered' },
  ])
})

test("dropRepeatedHistory returns the client's list object if none of its items repeats the stored history", () => {
  for (const items of [
    talk`user: and?`,
    talk`output a 4 degrees`,
    talk`
      assistant: Something else.
      call b weather
      output b 4 degrees
    `,
    // An item of an earlier round is not repeated: it was written again.
    talk`assistant: Hi!`,
    [],
  ]) {
    const step = dropRepeatedHistory(history, items)
    expect(step.items).toBe(items)
    expect(step.notes).toEqual([])
  }
})

test('the output of a new tool call is kept even if its call id also occurs in the stored history', () => {
  const before = talk`
    user: how warm is it?
    call call_0
    output call_0 4 degrees
    call call_0
  `
  const again = talk`
    call call_0
    output call_0 5 degrees
  `
  expect(show(dropRepeatedHistory(before, again).items)).toBe('output call_0 5 degrees')
  const all = [...before.slice(1), ...again.slice(1)]
  expect(show(dropRepeatedHistory(before, all).items)).toBe('output call_0 5 degrees')
})

test('if the client repeats several parallel calls of the stored history, each of them is dropped', () => {
  const before = [
    ...talk`user: hm`,
    ...talk`
    call a
    call b
  `,
  ]
  const items = talk`
    call a
    output a 1
    call b
    output b 2
  `
  expect(show(dropRepeatedHistory(before, items).items)).toBe('output a 1\noutput b 2')
})

test('an assistant message of the client is dropped as a repetition if it is several stored messages joined together', () => {
  const before = talk`
    user: hm
    assistant: One.
    thinks: two
    assistant: Two.
    call a
  `
  const items = [
    assistantMessage('One.\n\nTwo.'),
    ...talk`
    call a
    output a 1
    user: and
    assistant: Two.
  `,
  ]
  expect(show(dropRepeatedHistory(before, items).items)).toBe(
    'output a 1\nuser: and\nassistant: Two.',
  )
})

test("the client's reasoning and items of hosted tools are dropped as repetitions if stored items have the same ids", () => {
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' } as const
  const search = { type: 'opaque', raw: { type: 'web_search_call', id: 'ws_1' } } as const
  const before = [...talk`user: hm`, thought, search, ...talk`call a`]
  const items = [
    { ...thought },
    { ...search },
    ...talk`
    call a
    output a 1
  `,
  ]
  expect(show(dropRepeatedHistory(before, items).items)).toBe('output a 1')
})

test('if the client repeats the last stored round and adds a question, the round is dropped and the question kept', () => {
  fc.assert(
    fc.property(tidyConversation, (all) => {
      const start = all.findLastIndex((item) => item.type === 'message' && item.role === 'user')
      const border = all.findIndex(
        (item, at) => at > start && item.type === 'message' && item.role !== 'assistant',
      )
      const before = all.slice(0, border < 0 ? all.length : border)
      const round = before.slice(start + 1).filter((item) => item.type !== 'reasoning')
      const news = talk`user: and?`
      const step = dropRepeatedHistory(before, [...round, ...news])
      const calls = step.items.filter((item) => item.type === 'function_call')
      expect(calls).toEqual([])
      expect(step.items.at(-1)).toBe(news[0])
      expect(step.items.length + step.notes.length).toBe(round.length + 1)
    }),
    { numRuns: 100 },
  )
})

test('an assistant message of the client is dropped as a repetition if it consists of only the last of several stored messages', () => {
  const before = talk`
    user: hm
    assistant: One.
    thinks: two
    assistant: Two.
    assistant: Three.
  `
  expect(
    show(
      dropRepeatedHistory(before, [assistantMessage('Two.\n\nThree.'), assistantMessage('Four.')])
        .items,
    ),
  ).toBe('assistant: Four.')
  const half = [assistantMessage('wo.\n\nThree.')]
  expect(dropRepeatedHistory(before, half).items).toBe(half)
})

describe('comparisons in the search for repeated history', () => {
  /** Counts how often the items are read. */
  function countReads(tail: readonly Item[], repeated: readonly Item[]): number {
    let reads = 0
    const counted = (item: Item): Item =>
      new Proxy(item, {
        get(target, field) {
          reads += 1
          return Reflect.get(target, field) as unknown
        },
      })
    dropRepeatedHistory([...talk`user: hm`, ...tail].map(counted), repeated.map(counted))
    return reads
  }

  const list = (count: number, make: (at: number) => Item) =>
    Array.from({ length: count }, (_, at) => make(at))
  const call = (id: string): Item => ({
    type: 'function_call',
    call_id: id,
    name: 'look',
    arguments: '{}',
  })
  const hosted = (query: string): Item => ({
    type: 'opaque',
    raw: { type: 'web_search_call', query },
  })

  test.each<[string, (name: string) => Item]>([
    ['messages', (name) => assistantMessage(name)],
    ['calls', call],
    ['items of hosted tools', hosted],
  ])('the work of the search for repeated history grows linearly: %s', (_name, make) => {
    const shapes = [
      // Cases in which no item, every item, or only the first item is repeated.
      (count: number) => [list(count, (at) => make(`a${at}`)), list(count, (at) => make(`b${at}`))],
      (count: number) => [list(count, (at) => make(`a${at}`)), list(count, (at) => make(`a${at}`))],
      (count: number) => [list(count, (at) => make(`a${at}`)), list(count, () => make('a0'))],
    ]
    for (const shape of shapes) {
      const [small, large] = [300, 600].map((count) => {
        const [tail = [], repeated = []] = shape(count)
        return countReads(tail, repeated)
      })
      expect(small).toBeGreaterThan(600)
      expect(large).toBeLessThan(2.5 * (small ?? 0))
    }
  })
})
