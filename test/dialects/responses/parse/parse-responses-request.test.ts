import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { GatewayError } from '../../../../src/core/errors/gateway-error.ts'
import { parseBody } from '../../../support/responses-kit.ts'

function parseInput(...input: readonly unknown[]) {
  return parseBody({ model: 'm', input: input as readonly JsonObject[] }).items
}

/** Returns the code and the path of the fault. */
function readFault(body: unknown): readonly unknown[] {
  try {
    parseBody({ model: 'm', input: 'go', ...(body as JsonObject) })
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.failure.status).toBe(400)
    expect(error.failure.type).toBe('invalid_request_error')
    return [error.failure.code, error.failure.param]
  }
  return ['accepted', null]
}

describe('the input of a Responses request', () => {
  test('a string as the input of a Responses request becomes a user message', () => {
    expect(parseBody({ model: 'm', input: 'go' }).items).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
    ])
  })

  test('an entry of a Responses input with a role and no type is parsed as a message', () => {
    expect(parseInput({ role: 'developer', content: 'be brief' })).toEqual([
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'be brief' }] },
    ])
  })

  test('a string as the content of an assistant message in the input becomes an output text part', () => {
    const [message] = parseInput({ role: 'assistant', content: 'hi', phase: 'commentary' })
    expect(message).toEqual({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'hi' }],
      phase: 'commentary',
    })
  })

  const VALID_ENTRIES: readonly JsonObject[] = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x', cache: 1 }], x: 1 },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      phase: 'final_answer',
      content: [
        { type: 'output_text', text: 'x', annotations: [{ type: 'url_citation' }], logprobs: [] },
        { type: 'refusal', refusal: 'no' },
      ],
    },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'https://a.example/b.png', detail: 'low' },
        { type: 'input_file', file_id: 'file_1', filename: 'a.pdf' },
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
      ],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{', namespace: 'n' },
    { type: 'function_call_output', call_id: 'c', output: 'x' },
    { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
    { type: 'custom_tool_call', call_id: 'c', name: 'f', input: 'free text' },
    { type: 'custom_tool_call_output', call_id: 'c', output: 'x' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 's' }],
      content: [{ type: 'reasoning_text', text: 'r' }],
      encrypted_content: null,
    },
  ]

  test.each(VALID_ENTRIES)(
    'a valid $type in the input of a Responses request is returned as the same object',
    (entry) => {
      expect(parseInput(entry)[0]).toBe(entry)
    },
  )

  test('entries and parts of unknown types in a Responses input are stored unchanged', () => {
    const search = { type: 'web_search_call', id: 'ws_1', action: { type: 'search' } }
    const part = { type: 'input_video', video_url: 'x' }
    expect(parseInput(search, { role: 'user', content: [part] })).toEqual([
      { type: 'opaque', raw: search },
      { type: 'message', role: 'user', content: [{ type: 'opaque', raw: part }] },
    ])
    expect((parseInput(search)[0] as { raw: unknown }).raw).toBe(search)
  })

  test('an entry of a Responses input with only an id is parsed as an item reference', () => {
    expect(parseInput({ id: 'msg_1' }, { type: null, id: 'rs_1' })).toEqual([
      { type: 'opaque', raw: { type: 'item_reference', id: 'msg_1' } },
      { type: 'opaque', raw: { type: 'item_reference', id: 'rs_1' } },
    ])
  })

  test('a tool output without `call_id` in a Responses input is stored unchanged', () => {
    const output = { type: 'function_call_output', output: 'x', name: 'f' }
    expect(parseInput(output)).toEqual([{ type: 'opaque', raw: output }])
  })

  test('fields that SDKs send as null are removed from the input entries of a Responses request', () => {
    const nulls = { id: null, status: null }
    expect(
      parseInput(
        {
          ...nulls,
          role: 'assistant',
          phase: null,
          content: [{ type: 'output_text', text: 'x', annotations: null, logprobs: null }],
        },
        { ...nulls, type: 'function_call', call_id: 'c', name: 'f', arguments: '' },
        { ...nulls, type: 'reasoning', summary: null, content: null },
      ),
    ).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '' },
      { type: 'reasoning', summary: [] },
    ])
  })

  test('the internal fields `origin` and `native` are removed from an input entry', () => {
    const origin = { wire: 'responses', account: 'openai', model: 'm', prefixHash: null }
    const forged = { type: 'reasoning', summary: [], origin, native: { anthropic: {} } }
    expect(parseInput(forged)).toEqual([{ type: 'reasoning', summary: [] }])
  })

  test('a tool output in the form of a list of parts keeps its images when a Responses request is parsed', () => {
    const output = [{ type: 'input_image', image_url: 'data:image/png;base64,AA' }]
    expect(parseInput({ type: 'function_call_output', call_id: 'c', output })).toEqual([
      { type: 'function_call_output', call_id: 'c', output },
    ])
  })

  test('instructions in the form of a list of items come before the input items of a Responses request', () => {
    const { items, params } = parseBody({
      model: 'm',
      instructions: [{ role: 'developer', content: 'first' }],
      input: 'then',
    })
    expect(items.map((item) => 'role' in item && item.role)).toEqual(['developer', 'user'])
    expect(params.instructions).toBeNull()
  })

  test.each([
    [{ input: ['go'] }, 'invalid_type', 'input[0]'],
    [{ input: { role: 'user' } }, 'invalid_type', 'input'],
    [{ input: null }, 'invalid_type', 'input'],
    [{ input: undefined }, 'missing_required_parameter', 'input'],
    [{ input: 7 }, 'invalid_type', 'input'],
    [{ input: [{}] }, 'missing_required_parameter', 'input[0].type'],
    [{ input: [{ type: 3 }] }, 'invalid_type', 'input[0].type'],
    [{ input: [{ role: 'tool', content: '' }] }, 'invalid_value', 'input[0].role'],
    [{ input: [{ type: 'message' }] }, 'missing_required_parameter', 'input[0].role'],
    [{ input: [{ role: null, content: '' }] }, 'invalid_value', 'input[0].role'],
    [{ input: [{ role: 'user' }] }, 'missing_required_parameter', 'input[0].content'],
    [{ input: [{ role: 'user', content: null }] }, 'invalid_type', 'input[0].content'],
    [{ input: [{ role: 'user', content: ['hi'] }] }, 'invalid_type', 'input[0].content[0]'],
    [{ input: [{ role: 'user', content: '', id: 1 }] }, 'invalid_type', 'input[0].id'],
    [
      { input: [{ role: 'user', content: [{ text: 'x' }] }] },
      'missing_required_parameter',
      'input[0].content[0].type',
    ],
    [
      { input: ['', '', ''].map(() => ({ role: 'user', content: [{ type: 'input_text' }] })) },
      'missing_required_parameter',
      'input[0].content[0].text',
    ],
    [
      {
        input: [
          { role: 'user', content: 'a' },
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'b' },
              { type: 'input_text', text: 3 },
            ],
          },
        ],
      },
      'invalid_type',
      'input[1].content[1].text',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: { url: 'x' } }] }] },
      'invalid_type',
      'input[0].content[0].image_url',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 1 } }] }] },
      'invalid_type',
      'input[0].content[0].input_audio.data',
    ],
    [
      { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }] },
      'invalid_type',
      'input[0].arguments',
    ],
    [
      { input: [{ type: 'function_call', name: 'f', arguments: '' }] },
      'missing_required_parameter',
      'input[0].call_id',
    ],
    [
      { input: [{ type: 'function_call_output', call_id: 'c', output: { a: 1 } }] },
      'invalid_type',
      'input[0].output',
    ],
    [
      { input: [{ type: 'reasoning', summary: ['thought'] }] },
      'invalid_type',
      'input[0].summary[0]',
    ],
    [
      { input: [{ type: 'reasoning', summary: [], encrypted_content: 1 }] },
      'invalid_type',
      'input[0].encrypted_content',
    ],
    [{ instructions: [{ role: 'x' }] }, 'invalid_value', 'instructions[0].role'],
  ])('the Responses input %j is rejected with %s at %s', (body, code, param) => {
    expect(readFault(body)).toEqual([code, param])
  })
})

describe('the storage options of a Responses request', () => {
  test('storage options of a Responses request that are not set have defaults', () => {
    expect(parseBody({ model: 'm', input: 'go' }).storage).toEqual({
      store: null,
      storeByDefault: true,
      previousResponseId: null,
      conversationId: null,
      background: false,
      metadata: {},
    })
  })

  test('`conversation` in a Responses request is an id or an object with an id, and `input` may then be missing', () => {
    expect(parseBody({ model: 'm', conversation: 'conv_1' }).storage.conversationId).toBe('conv_1')
    const { storage, items } = parseBody({ model: 'm', conversation: { id: 'conv_1' } })
    expect([storage.conversationId, items]).toEqual(['conv_1', []])
  })

  test('an empty previous_response_id counts as not set', () => {
    const { storage } = parseBody({ model: 'm', input: 'go', previous_response_id: '' })
    expect(storage.previousResponseId).toBeNull()
  })

  test.each([
    [
      { previous_response_id: 'resp_1', conversation: 'conv_1' },
      'mutually_exclusive_parameters',
      'previous_response_id',
    ],
    [{ previous_response_id: 1 }, 'invalid_type', 'previous_response_id'],
    [{ conversation: 'resp_1' }, 'invalid_value', 'conversation'],
    [{ conversation: { id: 'x' } }, 'invalid_value', 'conversation.id'],
    [{ conversation: {} }, 'missing_required_parameter', 'conversation.id'],
    [{ background: true, store: false }, 'unsupported_parameter', 'background'],
    [{ store: 'no' }, 'invalid_type', 'store'],
    [{ stream: 'yes' }, 'invalid_type', 'stream'],
    [{ metadata: { a: 1 } }, 'invalid_type', 'metadata.a'],
    [{ metadata: { a: 'x'.repeat(513) } }, 'string_above_max_length', 'metadata.a'],
    [{ metadata: { ['k'.repeat(65)]: '' } }, 'string_above_max_length', 'metadata'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ''])) },
      'object_above_max_properties',
      'metadata',
    ],
  ])(
    'the storage options %j of a Responses request are rejected with %s at %s',
    (body, code, param) => {
      expect(readFault(body)).toEqual([code, param])
    },
  )

  test('metadata of the maximum size is accepted in a Responses request', () => {
    const metadata = { ['k'.repeat(64)]: 'v'.repeat(512) }
    expect(parseBody({ model: 'm', input: 'go', metadata }).storage.metadata).toEqual(metadata)
  })
})
