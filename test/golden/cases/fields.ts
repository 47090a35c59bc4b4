/** Every request field, over the four wires. */
import type { Body, GoldenCase, GoldenGroup } from '../golden-case.ts'
import { chat, CHAT_TOOLS, FOUR_WIRES, LOOK, responses, RESPONSES_TOOLS } from './ways.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const IMAGE = `data:image/png;base64,${PIXEL}`
const PDF = 'data:application/pdf;base64,JVBERi0xLjQKJSVFT0YK'
const SCHEMA = {
  type: 'object',
  properties: {
    place: { type: 'string' },
    degrees: { type: 'number', minimum: 1 },
    wind: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    hours: { type: 'array', items: { type: 'integer' } },
  },
  required: ['place', 'degrees', 'wind', 'hours'],
  additionalProperties: false,
}
const OTHER = { ...LOOK, name: 'other_place', description: 'Looks elsewhere.' }
const DOTTED = { ...LOOK, name: 'other.place', description: 'Has a dot in its name.' }
const GREP = { type: 'custom', name: 'grep', description: 'Searches.' }
const SAID = [
  { role: 'user', content: 'Count to four.' },
  { role: 'assistant', content: 'One, two,' },
]
const SYSTEM_IN_PLACE = [
  { role: 'system', content: 'Be brief.' },
  { role: 'developer', content: 'Be polite.' },
  { role: 'user', content: 'Hello!' },
  { role: 'assistant', content: 'Hi.' },
  { role: 'system', content: 'Be funny.' },
  { role: 'user', content: 'And now?' },
]

interface Pair {
  readonly chat?: Body
  readonly responses?: Body
  readonly headers?: Readonly<Record<string, string>>
}

const FIELDS: Readonly<Record<string, Pair>> = {
  sampling: both(
    { temperature: 1.4, top_p: 0.9 },
    { frequency_penalty: 0.1, seed: 7 },
    { top_logprobs: 2 },
  ),
  'limit of the answer': {
    chat: { max_completion_tokens: 9 },
    responses: { max_output_tokens: 9 },
  },
  'stop strings': both({ stop: ['there', '  ', 'a', 'b'] }),
  'effort and verbosity': {
    chat: { reasoning_effort: 'high', verbosity: 'low' },
    responses: {
      reasoning: { effort: 'high', summary: 'auto' },
      text: { verbosity: 'low' },
    },
  },
  'no effort': { chat: { reasoning_effort: 'none' }, responses: { reasoning: { effort: 'none' } } },
  'JSON by a schema': {
    chat: {
      messages: [{ role: 'user', content: 'Answer in JSON.' }],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'weather', strict: true, schema: SCHEMA },
      },
    },
    responses: {
      input: 'Answer in JSON.',
      text: { format: { type: 'json_schema', name: 'weather', strict: true, schema: SCHEMA } },
    },
  },
  'JSON of any kind': {
    chat: {
      response_format: { type: 'json_object' },
      messages: [{ role: 'user', content: 'JSON, please.' }],
    },
    responses: { text: { format: { type: 'json_object' } }, input: 'JSON, please.' },
  },
  image: {
    chat: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is that?' },
            { type: 'image_url', image_url: { url: IMAGE, detail: 'high' } },
            { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
          ],
        },
      ],
    },
    responses: {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is that?' },
            { type: 'input_image', image_url: IMAGE, detail: 'high' },
            { type: 'input_image', image_url: 'https://example.com/cat.png', detail: 'auto' },
          ],
        },
      ],
    },
  },
  file: {
    chat: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is in it?' },
            { type: 'file', file: { filename: 'a.pdf', file_data: PDF } },
            { type: 'input_audio', input_audio: { data: 'UklGRgAAAABXQVZF', format: 'wav' } },
          ],
        },
      ],
    },
    responses: {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is in it?' },
            { type: 'input_file', filename: 'a.pdf', file_data: PDF },
            { type: 'input_file', file_id: 'file-abc' },
          ],
        },
      ],
    },
  },
  'image in the output of a tool': {
    responses: {
      tools: RESPONSES_TOOLS,
      input: [
        { role: 'user', content: 'Look at Rome.' },
        { type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{"at":"Rome"}' },
        {
          type: 'function_call_output',
          call_id: 'call_a',
          output: [
            { type: 'input_text', text: 'There:' },
            { type: 'input_image', image_url: IMAGE, detail: 'auto' },
          ],
        },
      ],
    },
  },
  'a forced tool': {
    chat: { tools: CHAT_TOOLS, tool_choice: { type: 'function', function: { name: 'look' } } },
    responses: { tools: RESPONSES_TOOLS, tool_choice: { type: 'function', name: 'look' } },
  },
  'allowed tools, one at a time': {
    chat: {
      tools: [...CHAT_TOOLS, { type: 'function', function: OTHER }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: [{ type: 'function', function: { name: 'look' } }],
        },
      },
      parallel_tool_calls: false,
    },
    responses: {
      tools: [...RESPONSES_TOOLS, { type: 'function', strict: false, ...OTHER }],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'look' }],
      },
      parallel_tool_calls: false,
    },
  },
  'tools by other names, and for free text': {
    chat: {
      messages: [{ role: 'user', content: 'Hello there!' }],
      tools: [
        { type: 'function', function: DOTTED },
        { type: 'custom', custom: { name: 'grep', description: 'Searches.' } },
      ],
    },
    responses: { tools: [{ type: 'function', strict: true, ...DOTTED }, GREP] },
  },
  'a tool of the provider': {
    responses: {
      tools: [{ type: 'web_search' }],
      tool_choice: 'required',
      include: ['web_search_call.action.sources'],
    },
  },
  'a call with free text': {
    responses: {
      tools: [GREP],
      input: [
        { role: 'user', content: 'Search foo.' },
        { type: 'custom_tool_call', call_id: 'call_c', name: 'grep', input: 'grep foo' },
        { type: 'custom_tool_call_output', call_id: 'call_c', output: 'foo.ts' },
      ],
    },
  },
  'instructions in many places': {
    chat: { messages: SYSTEM_IN_PLACE },
    responses: { instructions: 'Be exact.', input: SYSTEM_IN_PLACE },
  },
  'words to go on with': { chat: { messages: SAID }, responses: { input: SAID } },
  'several of one role, with names': {
    chat: {
      messages: [
        { role: 'assistant', content: 'Welcome.' },
        { role: 'user', name: 'ann', content: 'Hello!' },
        { role: 'user', name: 'bo', content: [{ type: 'text', text: 'Me, too.' }] },
      ],
    },
    responses: {
      input: [
        { role: 'assistant', content: 'Welcome.' },
        { role: 'user', content: 'Hello!' },
        { role: 'user', content: [{ type: 'input_text', text: 'Me, too.' }] },
      ],
    },
  },
  'labels and other small things': {
    chat: {
      metadata: { topic: 'a' },
      user: 'user-1',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      safety_identifier: 's',
      logit_bias: { 50256: -100 },
    },
    responses: {
      metadata: { topic: 'a' },
      user: 'user-1',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      safety_identifier: 's',
      truncation: 'auto',
      max_tool_calls: 3,
    },
  },
  'a field that nobody knows': both({ enable_thinking: true, top_k: 4 }),
  'reasoning of somebody else': {
    chat: {
      messages: [
        { role: 'user', content: 'Hello!' },
        { role: 'assistant', content: 'Hi.', reasoning_content: 'A greeting.' },
        { role: 'user', content: 'And now?' },
      ],
    },
    responses: {
      input: [
        { role: 'user', content: 'Hello!' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'A greeting.' }] },
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'And now?' },
      ],
    },
  },
  'unsupported is refused': {
    chat: { seed: 7, top_k: 3, logprobs: true },
    responses: { top_logprobs: 2, tools: [{ type: 'file_search', vector_store_ids: ['v'] }] },
    headers: { 'x-backstory-unsupported': 'reject' },
  },
  'the gist is asked for': {
    ...both({}),
    headers: { 'x-backstory-explain': 'true' },
  },
  'usage in the stream': {
    chat: { stream: true, stream_options: { include_usage: true } },
    responses: { stream: true, stream_options: { include_obfuscation: false } },
  },
  'several answers': { chat: { n: 2 } },
}

function both(...more: readonly Body[]): Pair {
  const [shared = {}, ofChat = {}, ofResponses = {}] = more
  return { chat: { ...shared, ...ofChat }, responses: { ...shared, ...ofResponses } }
}

export const FIELD_CASES: GoldenGroup = {
  name: 'fields',
  cases: Object.entries(FIELDS).flatMap(([name, pair], field) =>
    FOUR_WIRES.flatMap((model, wire) => {
      const { headers = {} } = pair
      const cases: GoldenCase[] = []
      // Each wire gets the field through one of the two APIs, alternately.
      const isBoth = pair.chat === undefined || pair.responses === undefined
      const isChat = (field + wire) % 2 === 0
      if (pair.chat !== undefined && (isBoth || isChat)) {
        const messages = [{ role: 'user', content: 'Hello there!' }]
        const request = chat({ model, messages, ...pair.chat }, headers)
        cases.push({ name: `${name}: chat, ${model}`, play: ({ send }) => send(request) })
      }
      if (pair.responses !== undefined && (isBoth || !isChat)) {
        const request = responses({ model, input: 'Hello there!', ...pair.responses }, headers)
        cases.push({ name: `${name}: responses, ${model}`, play: ({ send }) => send(request) })
      }
      return cases
    }),
  ),
}
