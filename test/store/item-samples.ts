/** Items of every type, with contents that are hard to store. */
import type { Item } from '../../src/core/item.ts'

export const ITEM_SAMPLES: Readonly<Record<string, Item>> = {
  'a message with many parts': {
    type: 'message',
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    phase: 'commentary',
    content: [
      { type: 'output_text', text: 'Hi', annotations: [{ type: 'url_citation' }], logprobs: [] },
      { type: 'refusal', refusal: 'No.' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
      { type: 'input_file', file_id: null, filename: 'a.pdf' },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      { type: 'opaque', raw: { type: 'hologram', depth: [1, 2.5, -0.1, 1e300] } },
    ],
  },
  'a function call with broken arguments': {
    type: 'function_call',
    call_id: 'call_1',
    name: 'get_weather',
    arguments: '{"city": "Ber',
  },
  'an output with parts': {
    type: 'function_call_output',
    call_id: 'call_1',
    output: [{ type: 'input_text', text: '4 °C' }],
  },
  'a custom call': { type: 'custom_tool_call', call_id: 'c', name: 'sh', input: 'ls\r\n\t-la' },
  'the output of a custom call': { type: 'custom_tool_call_output', call_id: 'c', output: '' },
  reasoning: {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Thought.' }],
    content: [{ type: 'reasoning_text', text: 'Hm.' }],
    encrypted_content: null,
  },
  'provider-specific data': {
    type: 'reasoning',
    summary: [],
    native: { anthropic: { signature: 'EqQB', blocks: [{ redacted: true }] }, gemini: {} },
  },
  'an item of an unknown type': {
    type: 'opaque',
    raw: { type: 'computer_call', id: 'cu_1', call_id: 'call_2', action: { x: 0, keys: [] } },
  },
  'an opaque item without ids': { type: 'opaque', raw: { id: 7, call_id: null } },
  'unknown fields': unknownFields(),
  'ids that are too long for an index': {
    type: 'function_call_output',
    id: 'i'.repeat(5_000),
    call_id: '𝄞'.repeat(5_000),
    output: 'x',
  },
  'NUL and halves of surrogate pairs': {
    type: 'function_call_output',
    id: 'id\0\udc00',
    call_id: 'call\ud800\0',
    output: 'a\0b \ud800 \udc00\ud800 😀 \u2028 \x7f \u001f é',
  },
}

/** Parsed from JSON, because a key such as `__proto__` has a meaning in an object literal. */
function unknownFields(): Item {
  return JSON.parse(
    '{"type":"message","role":"user","content":[{"type":"input_text","text":"x","new":[null,false,0,""]}],' +
      '"__proto__":{"a":1},"constructor":"c","toString":null,"":"empty","k\\u0000\\ud800":1,"turn_id":"no","body":{}}',
  ) as Item
}
