import { expect, test } from 'vitest'
import { splitIntoScript } from '../../src/simulate/conversation-script.ts'
import { show, talk } from '../support/talk.ts'

test("a conversation is split into exchanges: new input and the model's answer to it", () => {
  const { exchanges } = splitIntoScript(
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

test('a conversation that begins with an answer has an exchange without input', () => {
  const { exchanges } = splitIntoScript('x', talk`assistant: hello`)
  expect(exchanges.map(({ newItems, answer }) => [show(newItems), show(answer)])).toEqual([
    ['', 'assistant: hello'],
  ])
})
