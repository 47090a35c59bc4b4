import { expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import type { AnswerContext } from '../../../../src/core/ports/dialect-interface.ts'
import { prependContinuedOutput } from '../../../../src/dialects/responses/render/prepend-continued-output.ts'
import { assistant, user } from '../../../store/turns.ts'

const TURN = '0123456789ABCDEFGHJK'
const OUTPUT = '[{"type":"message","id":"new"}]'

function createContext(...items: readonly Item[]): AnswerContext {
  return { clientRequest: { items }, turnId: TURN } as unknown as AnswerContext
}

test('the response output for Open WebUI starts with the assistant text that the answer continues', () => {
  const output = prependContinuedOutput(
    OUTPUT,
    createContext(user('q'), assistant('one'), assistant('two')),
  )
  expect(JSON.parse(output)).toMatchObject([
    { role: 'assistant', content: [{ type: 'output_text', text: 'one' }] },
    { role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
    { id: 'new' },
  ])
  const ids = (JSON.parse(output) as readonly { readonly id: string }[]).map(({ id }) => id)
  expect(new Set(ids).size).toBe(3)
})

test('the response output for Open WebUI starts with the tool calls and outputs before the continued text', () => {
  const call: Item = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }
  const result: Item = { type: 'function_call_output', call_id: 'c', output: '21' }
  const output = prependContinuedOutput(
    OUTPUT,
    createContext(user('q'), call, result, assistant('so')),
  )
  expect(JSON.parse(output)).toMatchObject([
    { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
    { type: 'function_call_output', output: [{ type: 'input_text', text: '21' }] },
    { type: 'message' },
    { id: 'new' },
  ])
})

test('nothing is prepended to the response output for Open WebUI if the request ends with a user message, or the output is empty', () => {
  expect(prependContinuedOutput(OUTPUT, createContext(assistant('one'), user('q')))).toBe(OUTPUT)
  expect(prependContinuedOutput('[]', createContext(assistant('one')))).toBe('[]')
})
