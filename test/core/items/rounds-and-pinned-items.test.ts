import { expect, test } from 'vitest'
import {
  headLength,
  questionEnd,
  roundStarts,
} from '../../../src/core/items/rounds-and-pinned-items.ts'
import { talk } from '../../support/talk.ts'

test('a round begins with a question, however many messages that takes', () => {
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
  expect(roundStarts(items)).toEqual([2, 7])
  expect(questionEnd(items, 2)).toBe(4)
  expect(questionEnd(items, 7)).toBe(8)
})

test('without a user there are no rounds', () => {
  expect(roundStarts([])).toEqual([])
  expect(roundStarts(talk`assistant: hello`)).toEqual([])
})

test('the head is what stands before any talk', () => {
  expect(headLength([])).toBe(0)
  expect(headLength(talk`user: hello`)).toBe(0)
  expect(
    headLength(talk`
    system: be brief
    hosted additional_tools
    developer: and kind
    user: hello
    system: be brief again
  `),
  ).toBe(3)
})
