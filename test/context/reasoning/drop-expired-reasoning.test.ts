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

test('with `reasoning.keep: next_reply`, reasoning of the last answered round stays', () => {
  expect(run(TWO_ROUNDS).items).toBe(TWO_ROUNDS)
})

test('with `reasoning.keep: next_reply`, reasoning stays until the next reply is complete', () => {
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

test('with `reasoning.keep: next_reply`, reasoning is dropped after the next reply, even if another provider wrote it (C15)', () => {
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
  ['no answer', ''],
  ['an empty answer', 'assistant: '],
  ['reasoning alone', 'thinks: Hm.'],
])(
  'with `reasoning.keep: next_reply`, a round with %s does not count as answered, so reasoning before it stays',
  (_, came) => {
    const items = [
      ...TWO_ROUNDS,
      ...talk`${came}`,
      ...talk`developer: Failed.`,
      ...talk`user: Again.`,
    ]
    expect(run(items).items).toBe(items)
  },
)

test("with `reasoning.keep: next_reply`, a round with only a hosted tool's call counts as answered", () => {
  const items = [
    ...TWO_ROUNDS,
    ...talk`
    hosted web_search_call
    user: Well?
  `,
  ]
  expect(run(items).notes.map(({ at }) => at)).toEqual([1, 4])
})

test('with `reasoning.keep: next_reply`, a question that is sent again is sent with the same reasoning (C15)', () => {
  const asked = [
    ...TWO_ROUNDS,
    ...talk`
    assistant: Welcome.
    user: And Rome?
  `,
  ]
  expect(run(asked)).toEqual(run([...asked]))
})

test('with `reasoning.keep: open_turn`, only the reasoning of the current round is sent', () => {
  const items = [...TWO_ROUNDS, ...TWO_ROUNDS]
  const start = findRoundStarts(items).at(-1) ?? 0
  const kept = items.filter(({ type }, at) => type !== 'reasoning' || at >= start)
  expect(dropExpiredReasoning('open_turn').run(items).items).toEqual(kept)
  expect(kept.length).toBeLessThan(items.length)
})
