import { expect, test } from 'vitest'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { dropExpiredReasoning } from '../../../src/context/reasoning/drop-expired-reasoning.ts'
import { show, talk } from '../../support/talk.ts'

const { run } = dropExpiredReasoning('next_reply')

const TWO_ROUNDS = talk`
  user: Look.
  thinks: I must look.
  call a
  output a fog
  sealed: Fog.
  assistant: There is fog.
  user: Thanks.
`

test('is given back with the reply behind it, all of it', () => {
  expect(run(TWO_ROUNDS).items).toBe(TWO_ROUNDS)
})

test('is given back for as long as the next reply takes', () => {
  const working = [
    ...TWO_ROUNDS,
    ...talk`
    thinks: Look once more.
    call b
    output b sun
  `,
  ]
  expect(run(working).items).toBe(working)
})

test('is gone when the next reply is complete, whoever brought it (C15)', () => {
  const { items, notes } = run([
    ...TWO_ROUNDS,
    ...talk`
    thinks: How kind.
    assistant: Welcome.
    user: And Rome?
  `,
  ])
  expect(show(items)).toBe(
    show(talk`
      user: Look.
      call a
      output a fog
      assistant: There is fog.
      user: Thanks.
      thinks: How kind.
      assistant: Welcome.
      user: And Rome?
    `),
  )
  expect(notes).toEqual([
    { did: 'dropped', at: 1, why: 'reasoning-expired' },
    { did: 'dropped', at: 4, why: 'reasoning-expired' },
  ])
})

test.each([
  ['nothing', ''],
  ['an empty answer', 'assistant: '],
  ['a thought that led to nothing', 'thinks: Hm.'],
])('outlives a round that came to %s', (_, came) => {
  const items = [
    ...TWO_ROUNDS,
    ...talk`${came}`,
    ...talk`developer: Failed.`,
    ...talk`user: Again.`,
  ]
  expect(run(items).items).toBe(items)
})

test('a round of calls alone is an answer', () => {
  const items = [
    ...TWO_ROUNDS,
    ...talk`
    hosted web_search_call
    user: Well?
  `,
  ]
  expect(run(items).notes.map(({ at }) => at)).toEqual([1, 4])
})

test('the same question asked again finds the same (C15)', () => {
  const asked = [
    ...TWO_ROUNDS,
    ...talk`
    assistant: Welcome.
    user: And Rome?
  `,
  ]
  expect(run(asked)).toEqual(run([...asked]))
})

test('with open_turn all reasoning of the turns before goes, and none of the running one', () => {
  const items = [...TWO_ROUNDS, ...TWO_ROUNDS]
  const start = findRoundStarts(items).at(-1) ?? 0
  const kept = items.filter(({ type }, at) => type !== 'reasoning' || at >= start)
  expect(dropExpiredReasoning('open_turn').run(items).items).toEqual(kept)
  expect(kept.length).toBeLessThan(items.length)
})
