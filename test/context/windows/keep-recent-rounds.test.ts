import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { estimateItemTokens } from '../../../src/core/items/item-tokens.ts'
import { resolvePolicy } from '../../../src/core/context-policy.ts'
import { fitTokenBudget } from '../../../src/context/windows/fit-token-budget.ts'
import { keepRecentRounds } from '../../../src/context/windows/keep-recent-rounds.ts'
import { show, talk } from '../../support/talk.ts'

const chat = (items: number) =>
  Array.from({ length: items }).flatMap((_, at) =>
    at % 2 === 0 ? talk`user: ${String(at)}` : talk`assistant: ${String(at)}`,
  )

/** Returns the indexes of the remaining items. */
function listKept(items: readonly Item[], maxItems: number): readonly number[] {
  const result = keepRecentRounds({ unit: 'items', maxWeight: maxItems }).run(items).items
  return items.flatMap((item, at) => (result.includes(item) ? [at] : []))
}

test('a window drops nothing from a conversation within its limit (C26)', () => {
  const items = chat(4)
  for (const maxItems of [4, 10]) {
    expect(keepRecentRounds({ unit: 'items', maxWeight: maxItems }).run(items).items).toBe(items)
  }
})

test('a window keeps the latest rounds, and writes a note for each dropped item (C24)', () => {
  const items = chat(6)
  const step = keepRecentRounds({ unit: 'items', maxWeight: 4 }).run(items)
  expect(step.items).toEqual(items.slice(2))
  expect(step.notes).toEqual([
    { did: 'dropped', at: 0, why: 'windowed' },
    { did: 'dropped', at: 1, why: 'windowed' },
  ])
})

test('a window keeps the leading instructions without counting them (C30)', () => {
  const items = talk`
    system: be brief
    developer: be kind
    user: 1
    assistant: 2
    user: 3
    assistant: 4
  `
  expect(listKept(items, 2)).toEqual([0, 1, 4, 5])
  expect(listKept(items, 4)).toEqual([0, 1, 2, 3, 4, 5])
})

test('a window keeps a compaction or summary that replaces earlier items', () => {
  const items = talk`
    user: 0
    assistant: 1
    hosted compaction
    user: 3
    assistant: 4
    user: 5
    assistant: 6
  `
  expect(listKept(items, 2)).toEqual([2, 5, 6])
})

test('a window keeps the latest round complete, even if it exceeds the limit (C32)', () => {
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
  expect(listKept(items, 3)).toEqual([2, 3, 4, 5, 6, 7])
  expect(listKept(items, 1)).toEqual([2, 3, 4, 5, 6, 7])
})

test('a window keeps all messages of the latest question (C28)', () => {
  expect(
    listKept(
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

describe('the latest assistant message under a window (C27)', () => {
  test('a window keeps the round of the latest assistant message if the latest round has none', () => {
    expect(
      listKept(
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

  test('a window keeps the latest assistant message even if it comes before the first question', () => {
    expect(
      listKept(
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

  test('a window keeps the previous assistant message while the model writes text between its tool calls', () => {
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
    expect(listKept(open, 2)).toEqual([2, 3, 4, 5, 6])
    expect(listKept([...open, ...remark], 2)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
  })
})

test('a window keeps a list without user messages complete (C31)', () => {
  expect(listKept([], 1)).toEqual([])
  expect(
    listKept(
      talk`
    assistant: 0
    assistant: 1
    assistant: 2
  `,
      2,
    ),
  ).toEqual([0, 1, 2])
})

test('a window keeps all consecutive user messages of the latest question (C31)', () => {
  expect(
    listKept(
      talk`
    user: 0
    user: 1
    user: 2
  `,
      2,
    ),
  ).toEqual([0, 1, 2])
  expect(
    listKept(
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

test('a window of items moves its cut by half a window, and never exceeds its limit (C34)', () => {
  const cuts: number[] = []
  for (let items = 41; items <= 201; items += 2) {
    const [first = 0, ...rest] = listKept(chat(items), 40)
    expect(rest.length + 1).toBeLessThanOrEqual(40)
    if (cuts.at(-1) !== first) cuts.push(first)
  }
  expect(cuts).toEqual([20, 40, 60, 80, 100, 120, 140, 160, 180])
})

const anyToolLoop = (rounds: number) =>
  Array.from({ length: rounds }).flatMap(
    (_, at) => talk`
      user: ${String(at)}
      thinks: hm
      call ${String(at)}
      output ${String(at)} ${'x'.repeat(40 * (at % 5))}
      assistant: done
    `,
  )

/** Returns the numbers of the remaining questions. */
function rounds(items: readonly Item[]): readonly number[] {
  return items.flatMap((item) =>
    item.type === 'message' && item.role === 'user' ? [Number(show([item]).slice(6))] : [],
  )
}

describe('a window of turns (C33)', () => {
  test('a window of turns counts each round once, and a window of 1 keeps the current round alone', () => {
    const items = [...talk`system: be brief`, ...anyToolLoop(4), ...talk`user: 4`]
    const one = keepRecentRounds({ unit: 'turns', maxWeight: 1 }).run(items)
    expect(show(one.items)).toBe('system: be brief\nuser: 4')
    expect(one.notes).toHaveLength(20)
    const two = keepRecentRounds({ unit: 'turns', maxWeight: 2 }).run(items)
    expect(two.items).toEqual([items[0], ...items.slice(16)])
    const all = keepRecentRounds({ unit: 'turns', maxWeight: 5 }).run(items)
    expect(all.items).toBe(items)
  })

  test('a window of turns moves its cut by half a window, and never keeps more rounds than its limit', () => {
    const firsts = Array.from({ length: 60 }, (_, count) => {
      const left = rounds(
        keepRecentRounds({ unit: 'turns', maxWeight: 20 }).run(anyToolLoop(count + 1)).items,
      )
      expect(left.length).toBeLessThanOrEqual(20)
      expect(left.length).toBeGreaterThan(count < 10 ? 0 : 10)
      return left[0]
    })
    expect([...new Set(firsts)]).toEqual([0, 10, 20, 30, 40])
    expect(firsts).toEqual(firsts.toSorted((a = 0, b = 0) => a - b))
  })

  test('a window of turns drops items before the first question together with the first round', () => {
    const items = talk`
      assistant: hello
      user: 1
      assistant: 1
      user: 2
    `
    expect(show(keepRecentRounds({ unit: 'turns', maxWeight: 1 }).run(items).items)).toBe('user: 2')
    expect(keepRecentRounds({ unit: 'turns', maxWeight: 2 }).run(items).items).toBe(items)
  })
})

describe('a window of tokens (C33)', () => {
  const tokens = (items: readonly Item[]) =>
    items.reduce((sum, item) => sum + estimateItemTokens(item), 0)

  test('a window of tokens moves its cut by half a window, and never exceeds its limit', () => {
    const firsts: number[] = []
    for (let count = 1; count <= 60; count += 1) {
      const { items } = keepRecentRounds({ unit: 'tokens', maxWeight: 1000 }).run(
        anyToolLoop(count),
      )
      expect(tokens(items)).toBeLessThanOrEqual(1000)
      const [first = 0] = rounds(items)
      if (firsts.at(-1) !== first) firsts.push(first)
    }
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b))
    // There is a step for every 500 tokens after the first 1000.
    expect(firsts.length - 1).toBe(Math.ceil((tokens(anyToolLoop(60)) - 1000) / 500))
  })

  test('a window of tokens keeps the latest question and answer, even if they exceed its limit (C27, C28)', () => {
    const items = talk`
      user: one
      assistant: 1
      user: ${'x'.repeat(4000)}
      assistant: 2
      user: ${'y'.repeat(4000)}
    `
    expect(keepRecentRounds({ unit: 'tokens', maxWeight: 100 }).run(items).items).toEqual(
      items.slice(2),
    )
  })

  test('a window of tokens does not count origins and ids of items', () => {
    const [item] = talk`assistant: hello`
    const origin = { wire: 'chat', account: 'a', model: 'm', prefixHash: 'f'.repeat(64) }
    expect(estimateItemTokens({ ...item, id: 'msg_1', origin } as Item)).toBe(
      estimateItemTokens(item as Item),
    )
  })
})

describe('pinned items under windows (C30)', () => {
  const pinned = (item: Item): Item => ({ ...item, native: { backstory: { pin: true } } })
  const items = talk`
    user: 0
    assistant: 1
    user: 2
    thinks: 3
    call a
    call b
    output a
    output b
    assistant: 8
    user: 9
    assistant: 10
    user: 11
    assistant: 12
  `
  const keptWith = (...pins: readonly number[]) => {
    const list = items.map((item, at) => (pins.includes(at) ? pinned(item) : item))
    const windows = (['items', 'turns', 'tokens'] as const).map((by) =>
      keepRecentRounds({ unit: by, maxWeight: by === 'items' ? 2 : 1 }),
    )
    const room = fitTokenBudget({ maxTokens: 1, policy: resolvePolicy([]) })
    return [...windows, room].map(({ run }) => {
      const { items: left } = run(list)
      expect(run(left).items).toBe(left)
      return list.flatMap((item, at) => (left.includes(item) ? [at] : [])).join(' ')
    })
  }
  const everywhere = (places: string) => [places, places, places, places]

  test('a pinned message outside a window stays without the rest of its round', () => {
    expect(keptWith(0)).toEqual(everywhere('0 11 12'))
    expect(keptWith(1, 9)).toEqual(everywhere('1 9 11 12'))
  })

  test.each([3, 4, 5, 6, 7])(
    'a pinned call, output or reasoning (item %i) stays with its complete group',
    (pin) => {
      expect(keptWith(pin)).toEqual(everywhere('3 4 5 6 7 11 12'))
    },
  )

  test('a pinned latest question counts as a round, so that the cut does not move when its answer begins', () => {
    const asked = [...items, pinned({ ...talk`user: 13`[0] } as Item)]
    const worked = [...asked, ...talk`call c`, ...talk`output c`]
    const { run } = keepRecentRounds({ unit: 'turns', maxWeight: 4 })
    const sent = run(asked).items
    expect(run(worked).items.slice(0, sent.length)).toEqual(sent)
  })

  test('pinned items do not count toward the limit of a window', () => {
    expect(
      listKept(
        chat(20).map((item, at) => (at < 10 ? pinned(item) : item)),
        4,
      ),
    ).toEqual([...Array.from({ length: 10 }).keys(), 16, 17, 18, 19])
  })
})
