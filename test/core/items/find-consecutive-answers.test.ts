import { describe, expect, test } from 'vitest'
import { findConsecutiveAnswers } from '../../../src/core/items/find-consecutive-answers.ts'
import type { Item, Origin } from '../../../src/core/item.ts'
import { talk } from '../../support/talk.ts'

const madeBy = (items: readonly Item[], origin: Origin): readonly Item[] =>
  items.map((item) => ({ ...item, origin }))

/** Answers are told apart by who the object is, for they may well be of one and the same maker. */
const origin = (): Origin => ({ wire: 'anthropic', account: 'a', model: 'm', prefixHash: null })

const ASKED = talk`
  system: be brief
  user: go
`
const SAID = talk`
  thinks: hm
  assistant: Once
`
const CALLED = talk`
  assistant: I look.
  call a
`

test('an answer goes on where another begins with nobody in between', () => {
  const [one, two, three] = [origin(), origin(), origin()]
  const items = [...ASKED, ...madeBy(SAID, one), ...madeBy(SAID, two), ...madeBy(CALLED, three)]
  expect(findConsecutiveAnswers(items)).toEqual([4, 6])
})

test('it goes on with words of the client as well', () => {
  const begun = talk`assistant: Once upon`
  expect(findConsecutiveAnswers([...ASKED, ...begun, ...madeBy(SAID, origin())])).toEqual([3])
})

test('it goes on with a call behind words of the other that were edited', () => {
  const [thought = SAID[0]] = madeBy(SAID, origin())
  const edited = talk`assistant: Twice`
  const items = [...ASKED, ...(thought ? [thought] : []), ...edited]
  expect(findConsecutiveAnswers([...items, ...madeBy(talk`call a`, origin())])).toEqual([4])
})

describe('it does not', () => {
  test.each([
    ['behind a question', talk`user: and then?`],
    ['behind the output of a tool', talk`output a 4`],
    ['behind the output of a tool that only one wire knows', talk`shell-output a 4`],
    ['behind instructions', talk`developer: be quick`],
    ['behind a summary', talk`hosted compaction`],
  ])('%s', (_, between) => {
    const items = [
      ...ASKED,
      ...madeBy(CALLED, origin()),
      ...between,
      ...madeBy(SAID, origin()),
      ...talk`assistant: And so on.`,
    ]
    expect(findConsecutiveAnswers(items)).toEqual([])
  })

  test('where nothing was recorded', () => {
    expect(findConsecutiveAnswers([...ASKED, ...SAID, ...CALLED])).toEqual([])
  })

  test('in an answer of which some words were edited', () => {
    const [one, two] = [origin(), origin()]
    const edited = talk`assistant: Twice`
    const [thought = SAID[0], ...rest] = madeBy([...SAID, ...CALLED], one)
    const items = [...ASKED, ...(thought ? [thought] : []), ...edited, ...rest]
    expect(findConsecutiveAnswers(items)).toEqual([])
    // What was said first in it has nothing before it that could tell whose it is.
    expect(findConsecutiveAnswers([...ASKED, ...edited, ...madeBy(talk`call a`, two)])).toEqual([])
  })
})
