import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { removeUnrequestedFields } from '../../../../src/dialects/responses/render/remove-unrequested-fields.ts'

const message = {
  type: 'message',
  content: [{ type: 'output_text', text: 'a', logprobs: [{ token: 'a' }] }, { type: 'refusal' }],
}

test.each<[string, JsonObject, JsonObject]>([
  [
    'message.output_text.logprobs',
    message,
    {
      ...message,
      content: [{ type: 'output_text', text: 'a', logprobs: [] }, { type: 'refusal' }],
    },
  ],
  [
    'file_search_call.results',
    { type: 'file_search_call', results: [1] },
    { type: 'file_search_call', results: null },
  ],
  [
    'code_interpreter_call.outputs',
    { type: 'code_interpreter_call', outputs: [1] },
    { type: 'code_interpreter_call', outputs: null },
  ],
  [
    'web_search_call.results',
    { type: 'web_search_call', results: [1] },
    { type: 'web_search_call', results: null },
  ],
  [
    'web_search_call.action.sources',
    { type: 'web_search_call', action: { query: 'q', sources: [1] } },
    { type: 'web_search_call', action: { query: 'q' } },
  ],
  [
    'computer_call_output.output.image_url',
    { type: 'computer_call_output', output: { type: 'x', image_url: 'data:' } },
    { type: 'computer_call_output', output: { type: 'x' } },
  ],
])(
  'a listed item contains the field %s only if the client requests it with `include`',
  (path, item, reduced) => {
    expect(removeUnrequestedFields(item, new Set([path]))).toEqual(item)
    expect(removeUnrequestedFields(item, new Set())).toEqual(reduced)
    expect(removeUnrequestedFields(reduced, new Set())).toBe(reduced)
  },
)
