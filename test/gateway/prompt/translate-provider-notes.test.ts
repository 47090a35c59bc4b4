import { expect, test } from 'vitest'
import { translateProviderNotes } from '../../../src/gateway/prompt/translate-provider-notes.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Note } from '../../../src/core/note.ts'

function translateNote(body: JsonObject, note: Partial<Note>): Note | undefined {
  const [only] = translateProviderNotes([{ did: 'dropped', why: 'w', ...note }], [3, null], body)
  return only
}

test.each<[string, JsonObject, string]>([
  ['max_output_tokens', { max_tokens: 1 }, 'max_tokens'],
  ['max_completion_tokens', { max_output_tokens: 1 }, 'max_output_tokens'],
  ['text.format', { response_format: { type: 'json_object' } }, 'response_format'],
  ['reasoning_effort', { reasoning: { effort: 'low' } }, 'reasoning.effort'],
  ['reasoning.effort', { reasoning_effort: 'low' }, 'reasoning_effort'],
  ['include', { logprobs: true }, 'logprobs'],
  // The name is the same in both APIs, or the client did not send the field.
  ['verbosity', { verbosity: 'low', text: { verbosity: 'high' } }, 'verbosity'],
  ['seed', {}, 'seed'],
  ['text.format', {}, 'text.format'],
])(
  'translateProviderNotes replaces the field name %s by the name in the body of the client %j: %s',
  (field, body, clientField) => {
    expect(translateNote(body, { field })).toEqual({ did: 'dropped', why: 'w', field: clientField })
  },
)

test('translateProviderNotes replaces the index of an item by its original index, and omits the index of an added item', () => {
  expect(translateNote({}, { at: 0 })).toEqual({ did: 'dropped', why: 'w', at: 3 })
  expect(translateNote({}, { at: 1 })).toEqual({ did: 'dropped', why: 'w' })
  expect(translateNote({}, { at: 9 })).toEqual({ did: 'dropped', why: 'w' })
})
