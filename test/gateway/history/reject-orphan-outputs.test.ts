import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { rejectOrphanOutputs } from '../../../src/gateway/history/reject-orphan-outputs.ts'
import { parseBody } from '../../support/responses-kit.ts'
import { talk } from '../../support/talk.ts'

const BEFORE = talk`
  user: weather?
  call a look
  shell b ls
`

function going(items: readonly Item[], previous: string | null = 'resp_1') {
  const clientRequest = parseBody({ model: 'm', input: 'x' })
  const memory = { ...clientRequest.storage, previousResponseId: previous }
  return () => rejectOrphanOutputs(BEFORE, { ...clientRequest, items, storage: memory })
}

test('an output for a call that was made is let through, of whatever kind', () => {
  expect(going(talk`output a sunny`)).not.toThrow()
  expect(going(talk`shell-output b foo.ts`)).not.toThrow()
  expect(
    going(talk`
      call c look
      output c sunny
    `),
  ).not.toThrow()
})

test('one for a call that nobody made is refused in the words of OpenAI', () => {
  expect(going(talk`output nope sunny`)).toThrow(
    'No tool call found for function call output with call_id nope.',
  )
  // A call of another kind is another call.
  expect(going(talk`custom-output a sunny`)).toThrow('call_id a')
})

test('who brings the whole history along has orphans left out instead', () => {
  expect(going(talk`output nope sunny`, null)).not.toThrow()
})
