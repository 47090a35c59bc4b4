import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/conversation/item.ts'
import { windowItems } from '../../src/rebuild/window-items.ts'
import { talk } from '../support/talk.ts'

const chat = (items: number) =>
  Array.from({ length: items }).flatMap((_, at) =>
    at % 2 === 0 ? talk`user: ${String(at)}` : talk`assistant: ${String(at)}`,
  )

/** What is kept, as the places in the list. */
function kept(items: readonly Item[], maxItems: number): readonly number[] {
  const result = windowItems({ maxItems }).run(items).items
  return items.flatMap((item, at) => (result.includes(item) ? [at] : []))
}

test('drops nothing at or under the cap', () => {
  const items = chat(4)
  for (const maxItems of [4, 10]) {
    expect(windowItems({ maxItems }).run(items).items).toBe(items)
  }
})

test('keeps the newest rounds, and notes each item that it drops', () => {
  const items = chat(6)
  const step = windowItems({ maxItems: 4 }).run(items)
  expect(step.items).toEqual(items.slice(2))
  expect(step.notes).toEqual([
    { did: 'dropped', at: 0, why: 'windowed' },
    { did: 'dropped', at: 1, why: 'windowed' },
  ])
})

test('keeps the instructions at the head, which do not count', () => {
  const items = talk`
    system: be brief
    developer: be kind
    user: 1
    assistant: 2
    user: 3
    assistant: 4
  `
  expect(kept(items, 2)).toEqual([0, 1, 4, 5])
  expect(kept(items, 4)).toEqual([0, 1, 2, 3, 4, 5])
})

test('keeps what stands for the items before it', () => {
  const items = talk`
    user: 0
    assistant: 1
    hosted compaction
    user: 3
    assistant: 4
    user: 5
    assistant: 6
  `
  expect(kept(items, 2)).toEqual([2, 5, 6])
})

test('never cuts inside of a round, however long the newest one is', () => {
  const items = talk`
    user: 0
    assistant: 1
    user: 2
    call a
    output a
    call b
    output b
    assistant: 7
  `
  expect(kept(items, 3)).toEqual([2, 3, 4, 5, 6, 7])
  expect(kept(items, 1)).toEqual([2, 3, 4, 5, 6, 7])
})

test('keeps all messages of the newest question', () => {
  expect(
    kept(
      talk`
    user: 0
    assistant: 1
    user: 2
    user: 3
    user: 4
    assistant: 5
  `,
      2,
    ),
  ).toEqual([2, 3, 4, 5])
})

describe('one message of the assistant is kept', () => {
  test('with its round, when the newest round has none', () => {
    expect(
      kept(
        talk`
      user: 0
      assistant: 1
      user: 2
      assistant: 3
      user: 4
      call a
      output a
      user: 7
    `,
        2,
      ),
    ).toEqual([2, 3, 4, 5, 6, 7])
  })

  test('where it stands before the first question too', () => {
    expect(
      kept(
        talk`
      assistant: 0
      user: 1
      hosted web_search_call
      user: 3
    `,
        2,
      ),
    ).toEqual([0, 1, 2, 3])
  })

  test('and the one before does not go when the model makes a remark among its tool calls', () => {
    const open = talk`
      user: 0
      assistant: 1
      user: 2
      assistant: 3
      user: 4
      call a
      output a
    `
    const remark = talk`
      assistant: 7
      call b
      output b
    `
    expect(kept(open, 2)).toEqual([2, 3, 4, 5, 6])
    expect(kept([...open, ...remark], 2)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
  })
})

test('does not fail where a side never spoke', () => {
  expect(kept([], 1)).toEqual([])
  expect(
    kept(
      talk`
    assistant: 0
    assistant: 1
    assistant: 2
  `,
      2,
    ),
  ).toEqual([0, 1, 2])
  expect(
    kept(
      talk`
    user: 0
    user: 1
    user: 2
  `,
      2,
    ),
  ).toEqual([0, 1, 2])
  expect(
    kept(
      talk`
    user: 0
    call a
    output a
    user: 3
  `,
      2,
    ),
  ).toEqual([3])
})

test('keeps the cut for half a window, and the cap always', () => {
  const cuts: number[] = []
  for (let items = 41; items <= 201; items += 2) {
    const [first = 0, ...rest] = kept(chat(items), 40)
    expect(rest.length + 1).toBeLessThanOrEqual(40)
    if (cuts.at(-1) !== first) cuts.push(first)
  }
  expect(cuts).toEqual([20, 40, 60, 80, 100, 120, 140, 160, 180])
})
