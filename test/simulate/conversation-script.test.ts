import { expect, test } from 'vitest'
import { createScriptFromItems } from '../../src/simulate/conversation-script.ts'
import { show, talk } from '../support/talk.ts'

test("a conversation is divided into exchanges, each with the new items of a request and the model's answer", () => {
  const { exchanges } = createScriptFromItems(
    'x',
    talk`
      system: be brief
      user: weather?
      call a weather
      output a 4 degrees
      assistant: cold
      user: thanks
    `,
  )
  expect(exchanges.map(({ newItems, answer }) => [show(newItems), show(answer)])).toEqual([
    ['system: be brief\nuser: weather?', 'call a weather'],
    ['output a 4 degrees', 'assistant: cold'],
    ['user: thanks', ''],
  ])
})

test('if a conversation begins with an answer, its first exchange has no new items', () => {
  const { exchanges } = createScriptFromItems('x', talk`assistant: hello`)
  expect(exchanges.map(({ newItems, answer }) => [show(newItems), show(answer)])).toEqual([
    ['', 'assistant: hello'],
  ])
})
