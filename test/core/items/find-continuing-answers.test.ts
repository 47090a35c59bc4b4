import { describe, expect, test } from 'vitest'
import { findContinuingAnswers } from '../../../src/core/items/find-continuing-answers.ts'
import type { Item, Origin } from '../../../src/core/item.ts'
import { talk } from '../../support/talk.ts'

const withOrigin = (items: readonly Item[], origin: Origin): readonly Item[] =>
  items.map((item) => ({ ...item, origin }))

/**
 * Returns a new object each time: answers of one upstream are distinguished by the identity of their
 * origin.
 */
const origin = (): Origin => ({ wire: 'anthropic', account: 'a', model: 'm', prefixHash: null })

const QUESTION = talk`
  system: be brief
  user: go
`
const ANSWER = talk`
  thinks: hm
  assistant: Once
`
const ANSWER_WITH_CALL = talk`
  assistant: I look.
  call a
`

test('findContinuingAnswers finds an answer that directly follows another one', () => {
  const [one, two, three] = [origin(), origin(), origin()]
  const items = [
    ...QUESTION,
    ...withOrigin(ANSWER, one),
    ...withOrigin(ANSWER, two),
    ...withOrigin(ANSWER_WITH_CALL, three),
  ]
  expect(findContinuingAnswers(items)).toEqual([4, 6])
})

test('findContinuingAnswers finds an answer that follows assistant text without an origin', () => {
  const begun = talk`assistant: Once upon`
  expect(findContinuingAnswers([...QUESTION, ...begun, ...withOrigin(ANSWER, origin())])).toEqual([
    3,
  ])
})

test('findContinuingAnswers finds a call that follows edited text of another answer', () => {
  const [thought = ANSWER[0]] = withOrigin(ANSWER, origin())
  const edited = talk`assistant: Twice`
  const items = [...QUESTION, ...(thought ? [thought] : []), ...edited]
  expect(findContinuingAnswers([...items, ...withOrigin(talk`call a`, origin())])).toEqual([4])
})

describe('answers that do not directly follow another one', () => {
  test.each([
    ['after a question', talk`user: and then?`],
    ['after a tool output', talk`output a 4`],
    ['after an output of a wire-specific tool', talk`shell-output a 4`],
    ['after instructions', talk`developer: be quick`],
    ['after a compaction', talk`hosted compaction`],
  ])('findContinuingAnswers leaves out an answer %s', (_, between) => {
    const items = [
      ...QUESTION,
      ...withOrigin(ANSWER_WITH_CALL, origin()),
      ...between,
      ...withOrigin(ANSWER, origin()),
      ...talk`assistant: And so on.`,
    ]
    expect(findContinuingAnswers(items)).toEqual([])
  })

  test('findContinuingAnswers returns an empty list if no item has an origin', () => {
    expect(findContinuingAnswers([...QUESTION, ...ANSWER, ...ANSWER_WITH_CALL])).toEqual([])
  })

  test('findContinuingAnswers leaves out the items of an answer after edited text of the same answer', () => {
    const [one, two] = [origin(), origin()]
    const edited = talk`assistant: Twice`
    const [thought = ANSWER[0], ...rest] = withOrigin([...ANSWER, ...ANSWER_WITH_CALL], one)
    const items = [...QUESTION, ...(thought ? [thought] : []), ...edited, ...rest]
    expect(findContinuingAnswers(items)).toEqual([])
    // The first item of an answer has no recorded item before it that shows whose text precedes it.
    expect(
      findContinuingAnswers([...QUESTION, ...edited, ...withOrigin(talk`call a`, two)]),
    ).toEqual([])
  })
})
