import { expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import type { AnswerContext } from '../../../../src/core/ports/dialect-interface.ts'
import { prependContinuedOutput } from '../../../../src/dialects/responses/render/prepend-continued-output.ts'
import { assistant, user } from '../../../store/turns.ts'

const TURN = '0123456789ABCDEFGHJK'
const OUTPUT = '[{"type":"message","id":"new"}]'

function answeringTo(...items: readonly Item[]): AnswerContext {
  return { clientRequest: { items }, turnId: TURN } as unknown as AnswerContext
}

test('begins with the words that are to be continued', () => {
  const told = prependContinuedOutput(
    OUTPUT,
    answeringTo(user('q'), assistant('one'), assistant('two')),
  )
  expect(JSON.parse(told)).toMatchObject([
    { role: 'assistant', content: [{ type: 'output_text', text: 'one' }] },
    { role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
    { id: 'new' },
  ])
  const ids = (JSON.parse(told) as readonly { readonly id: string }[]).map(({ id }) => id)
  expect(new Set(ids).size).toBe(3)
})

test('begins with the loop that led there', () => {
  const call: Item = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }
  const result: Item = { type: 'function_call_output', call_id: 'c', output: '21' }
  const told = prependContinuedOutput(OUTPUT, answeringTo(user('q'), call, result, assistant('so')))
  expect(JSON.parse(told)).toMatchObject([
    { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
    { type: 'function_call_output', output: [{ type: 'input_text', text: '21' }] },
    { type: 'message' },
    { id: 'new' },
  ])
})

test('is what it was, if a question is answered, or nothing was said', () => {
  expect(prependContinuedOutput(OUTPUT, answeringTo(assistant('one'), user('q')))).toBe(OUTPUT)
  expect(prependContinuedOutput('[]', answeringTo(assistant('one')))).toBe('[]')
})
