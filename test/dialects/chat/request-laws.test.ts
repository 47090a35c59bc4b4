/** Property tests: any JSON is parsed or rejected, and parsed messages can be encoded without losses. */
import fc, { type Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { chatDialect } from '../../../src/dialects/chat/chat-dialect.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import { parseChatPrompt, encodePrompt } from '../../providers/openai-chat/kit.ts'

describe('laws of chat requests', () => {
  test('a chat request of any JSON is parsed, or rejected with a GatewayError', () => {
    const json = fc.jsonValue({ maxDepth: 3 })
    const odd = fc.oneof(
      fc.constantFrom<unknown>(null, '', 'text', 0, -1, true, [], {}, ['x'], [null], [[]]),
      json,
    )
    const part = fc.record(
      {
        type: fc.constantFrom('text', 'image_url', 'input_audio', 'file', 'refusal', 'x', 3),
        text: odd,
        image_url: fc.oneof(odd, fc.record({ url: odd, detail: odd })),
        input_audio: odd,
        file: odd,
        refusal: odd,
      },
      { requiredKeys: [] },
    )
    const message = fc.record(
      {
        role: fc.constantFrom(
          'system',
          'developer',
          'user',
          'assistant',
          'tool',
          'function',
          'x',
          1,
        ),
        content: fc.oneof(odd, fc.array(part, { maxLength: 2 })),
        name: odd,
        tool_call_id: odd,
        refusal: odd,
        reasoning_content: odd,
        reasoning_details: odd,
        function_call: fc.oneof(odd, fc.record({ name: odd, arguments: odd })),
        tool_calls: fc.oneof(
          odd,
          fc.array(
            fc.record(
              {
                id: odd,
                type: odd,
                function: fc.record({ name: odd, arguments: odd }),
                custom: odd,
              },
              { requiredKeys: [] },
            ),
            { maxLength: 2 },
          ),
        ),
        __proto__x: odd,
      },
      { requiredKeys: ['role'] },
    )
    const names =
      `temperature top_p max_tokens stop seed n logprobs top_logprobs stream stream_options
      store metadata tools tool_choice functions function_call response_format reasoning user
      parallel_tool_calls logit_bias`.split(/\s+/)
    const body = fc
      .tuple(
        fc.record({
          model: fc.oneof(fc.constant('m'), odd),
          messages: fc.oneof(fc.array(message), odd),
        }),
        fc.array(fc.tuple(fc.constantFrom(...names), odd), { maxLength: 3 }),
      )
      .map(([base, more]) => ({ ...base, ...Object.fromEntries(more) }) as JsonObject)
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: body }, json.filter(isObject)), (request) => {
        try {
          const { items, params } = chatDialect.parse(request as JsonObject)
          expect(items.length).toBeGreaterThan(0)
          expect(params.model).not.toBe('')
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error
          expect(error.failure.status).toBe(400)
          expect(error.failure.param).toBeTypeOf('string')
        }
      }),
      { numRuns: 1500 },
    )
  })

  test("a parsed chat request is encoded for a chat upstream with the client's messages unchanged", () => {
    fc.assert(
      fc.property(conversation(), (messages) => {
        const prompt = parseChatPrompt({ model: 'm', messages })
        // A copy of the list, so that the client's body is not forwarded unchanged.
        const { messages: encoded } = encodePrompt({ ...prompt, items: [...prompt.items] })
        expect(encoded).toEqual(messages)
      }),
      { numRuns: 200 },
    )
  })
})

/** Messages in the form in which the gateway encodes them. */
function conversation(): Arbitrary<readonly JsonObject[]> {
  const plainText = fc.constantFrom('a', 'b\nc', 'grüezi 🦊')
  const cached = { cache_control: { type: 'ephemeral' } }
  const content = fc.oneof(
    plainText,
    fc.constantFrom<JsonObject[]>(
      [{ type: 'text', text: 'a', ...cached }],
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', ...cached },
      ],
      [
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'data:x', detail: 'high' } },
        { type: 'image_url', image_url: { url: 'data:y', hash: 'z' } },
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        { type: 'file', file: { file_id: 'f-1' } },
        { type: 'video_url', video_url: { url: 'https://a.example' } },
      ],
    ),
  )
  const extras = fc.constantFrom<JsonObject>({}, { name: 'Ann' }, { name: 'Ann', x: [1] })
  const user = fc
    .tuple(fc.constantFrom('user', 'system', 'developer'), content, plainText, extras)
    .map(([role, parts, plain, more]) => [
      { role, content: role === 'user' ? parts : plain, ...more },
    ])
  const reasoning = fc.constantFrom<JsonObject>(
    {},
    { reasoning_content: 'Hm' },
    { reasoning: 'Hm' },
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 0 }] },
    {
      reasoning: 'Hm',
      reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 's', index: 0 }],
    },
    { reasoning_content: '' },
  )
  const assistant = fc
    .tuple(plainText, extras, reasoning)
    .map(([plain, more, thought]) => [{ role: 'assistant', content: plain, ...more, ...thought }])
  const refused = fc.constant([{ role: 'assistant', content: null, refusal: 'No.' }])
  const entry = fc
    .tuple(fc.boolean(), fc.constantFrom<JsonObject>({}, { extra_content: { google: { s: 1 } } }))
    .map(([isCustom, more]) => ({
      type: isCustom ? 'custom' : 'function',
      ...(isCustom
        ? { custom: { name: 'sh', input: 'ls' } }
        : { function: { name: 'f', arguments: '{"x":' } }),
      ...more,
    }))
  const batch = fc
    .tuple(fc.option(plainText), reasoning, extras, fc.array(entry, { minLength: 1, maxLength: 3 }))
    .map(([plain, thought, more, entries]) => [
      {
        role: 'assistant',
        content: plain,
        ...more,
        ...thought,
        tool_calls: entries.map((one, at) => ({ ...one, id: `call_${at}` })),
      },
      ...entries.map((_, at) => ({
        role: 'tool',
        tool_call_id: `call_${at}`,
        content: `out ${at}`,
      })),
    ])
  const legacy = fc.constant([
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
    { role: 'function', name: 'f', content: 'x' },
  ])
  return fc
    .array(fc.oneof(user, assistant, refused, batch, legacy), { minLength: 1, maxLength: 6 })
    .map((groups) => groups.flat())
    .filter((messages) => messages.every((one, at) => !startsCallsAfterText(messages, one, at)))
}

/** Text and calls in two messages are encoded as one message, so they are not generated. */
function startsCallsAfterText(
  messages: readonly JsonObject[],
  message: JsonObject,
  at: number,
): boolean {
  const before = messages[at - 1]
  const hasCalls = message['tool_calls'] !== undefined || message['function_call'] !== undefined
  return hasCalls && message['content'] === null && before?.['role'] === 'assistant'
}
