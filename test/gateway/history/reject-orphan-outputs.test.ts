import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { rejectOrphanOutputs } from '../../../src/gateway/history/reject-orphan-outputs.ts'
import { parseBody } from '../../support/responses-kit.ts'
import { talk } from '../../support/talk.ts'

const HISTORY = talk`
  user: weather?
  call a look
  shell b ls
`

function rejecting(items: readonly Item[], previous: string | null = 'resp_1') {
  const clientRequest = parseBody({ model: 'm', input: 'x' })
  const storage = { ...clientRequest.storage, previousResponseId: previous }
  return () => rejectOrphanOutputs(HISTORY, { ...clientRequest, items, storage })
}

test('a tool output of any kind is accepted if its call is in the history or the request', () => {
  expect(rejecting(talk`output a sunny`)).not.toThrow()
  expect(rejecting(talk`shell-output b foo.ts`)).not.toThrow()
  expect(
    rejecting(talk`
      call c look
      output c sunny
    `),
  ).not.toThrow()
})

test("a tool output without a call is rejected with OpenAI's message if the request has a previous_response_id", () => {
  expect(rejecting(talk`output nope sunny`)).toThrow(
    'No tool call found for function call output with call_id nope.',
  )
  // A custom tool output does not match a function call with the same id.
  expect(rejecting(talk`custom-output a sunny`)).toThrow('call_id a')
})

test('a tool output without a call is accepted if the request has no previous_response_id', () => {
  expect(rejecting(talk`output nope sunny`, null)).not.toThrow()
})
