import { expect, test } from 'vitest'
import {
  countItemsBeforeFirstRound,
  findQuestionEnd,
  findRoundStarts,
} from '../../../src/core/items/rounds-and-pinned-items.ts'
import { talk } from '../../support/talk.ts'

test('a round begins with a question of one or more user messages', () => {
  const items = talk`
    system: be brief
    assistant: hello
    user: look
    user: and tell me
    call a
    output a
    assistant: done
    user: thanks
  `
  expect(findRoundStarts(items)).toEqual([2, 7])
  expect(findQuestionEnd(items, 2)).toBe(4)
  expect(findQuestionEnd(items, 7)).toBe(8)
})

test('a list without user messages has no rounds', () => {
  expect(findRoundStarts([])).toEqual([])
  expect(findRoundStarts(talk`assistant: hello`)).toEqual([])
})

test('countItemsBeforeFirstRound counts the instructions and tool definitions before the first message of a turn', () => {
  expect(countItemsBeforeFirstRound([])).toBe(0)
  expect(countItemsBeforeFirstRound(talk`user: hello`)).toBe(0)
  expect(
    countItemsBeforeFirstRound(talk`
    system: be brief
    hosted additional_tools
    developer: and kind
    user: hello
    system: be brief again
  `),
  ).toBe(3)
})
