import { describe, expect, test } from 'vitest'
import { translateProviderNotes } from '../../../src/gateway/prompt/translate-provider-notes.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Note } from '../../../src/core/note.ts'

function told(body: JsonObject, note: Partial<Note>): Note | undefined {
  const [only] = translateProviderNotes([{ did: 'dropped', why: 'w', ...note }], [3, null], body)
  return only
}

describe('a field is called what the client called it', () => {
  test.each<[string, JsonObject, string]>([
    ['max_output_tokens', { max_tokens: 1 }, 'max_tokens'],
    ['max_completion_tokens', { max_output_tokens: 1 }, 'max_output_tokens'],
    ['text.format', { response_format: { type: 'json_object' } }, 'response_format'],
    ['reasoning_effort', { reasoning: { effort: 'low' } }, 'reasoning.effort'],
    ['reasoning.effort', { reasoning_effort: 'low' }, 'reasoning_effort'],
    ['include', { logprobs: true }, 'logprobs'],
    // Said the same by both, or by nobody.
    ['verbosity', { verbosity: 'low', text: { verbosity: 'high' } }, 'verbosity'],
    ['seed', {}, 'seed'],
    ['text.format', {}, 'text.format'],
  ])('%s of %j', (field, body, said) => {
    expect(told(body, { field })).toEqual({ did: 'dropped', why: 'w', field: said })
  })
})

test('an item stands where it stood at first; one that was added stands nowhere', () => {
  expect(told({}, { at: 0 })).toEqual({ did: 'dropped', why: 'w', at: 3 })
  expect(told({}, { at: 1 })).toEqual({ did: 'dropped', why: 'w' })
  expect(told({}, { at: 9 })).toEqual({ did: 'dropped', why: 'w' })
})
