/**
 * Chat Completions as several services implement it: `deepseek-…` requires its reasoning back with its calls,
 * `vendor/model` requires its signed details back as OpenRouter does, and `strict-…` requires alternating
 * roles.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { findChatFaults } from '../chat-laws.ts'
import { USAGE, type AnswerPart } from './simulated-model.ts'
import {
  object,
  objects,
  splitIntoPieces,
  textIn,
  type IssuedSeals,
  type AnswerStyle,
  type ErrorResponse,
  type Service,
} from './service.ts'

export const chat: Service = {
  name: 'chat',
  serves: (path) => path.endsWith('/chat/completions'),
  wantsStream: ({ body }) => body['stream'] === true,
  findViolation({ body, headers }) {
    if (headers['authorization'] !== 'Bearer sk-upstream') return BAD_KEY
    const [message] = [...findChatFaults(body), ...ownFaults(body)]
    return message === undefined ? null : errorResponse(400, message, 'invalid_request_error', null)
  },
  findInvalidSeal({ body }, issued) {
    if (!isRouted(String(body['model']))) return null
    const details = objects(body['messages']).flatMap((one) => objects(one['reasoning_details']))
    const isForged = details.some(({ text, signature }) => issued.find(signature) !== text)
    const message = 'Provider returned error: Invalid `signature` in `thinking` block'
    return isForged ? errorResponse(400, message, 'invalid_request_error', null) : null
  },
  read({ body }) {
    const messages = objects(body['messages'])
    const asked = messages.findLastIndex(({ role }) => role === 'user')
    const last = messages.at(-1)
    const isPrefill = last?.['role'] === 'assistant' && last['tool_calls'] === undefined
    const format = object(object(body['response_format'])['json_schema'])
    return {
      system: messages
        .filter(({ role }) => role === 'system' || role === 'developer')
        .map(({ content }) => textIn(content))
        .join(' '),
      questions: messages
        .filter(({ role }) => role === 'user')
        .flatMap(({ content }) => textIn(content).split('\n')),
      outputs: messages
        .slice(asked + 1)
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => textIn(content)),
      tools: objects(body['tools']).map((tool) => String(object(tool['function'])['name'])),
      schema: format['schema'] === undefined ? null : object(format['schema']),
      images: objects(messages[asked]?.['content']).filter(({ type }) => type === 'image_url')
        .length,
      prefill: isPrefill ? textIn(last['content']) : null,
      mayThink: body['reasoning_effort'] !== 'none',
    }
  },
  buildBody({ parts, isCut }, { body }, { number, issued }) {
    const model = String(body['model'])
    const calls = parts.flatMap((part, at) =>
      part.type === 'call' ? [callOf(part, number, at)] : [],
    )
    const reasoning = textOf(parts, 'thought')
    const content = textOf(parts, 'text')
    const refusal = textOf(parts, 'refusal')
    const message = {
      role: 'assistant',
      content: content === '' ? null : content,
      refusal: refusal === '' ? null : refusal,
      ...(reasoning === '' ? {} : thinking(reasoning, model, issued)),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    return {
      id: `chatcmpl-${number}`,
      object: 'chat.completion',
      created: 1_700_000_000,
      model,
      choices: [
        {
          index: 0,
          message,
          logprobs: null,
          finish_reason: isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
        },
      ],
      usage: {
        prompt_tokens: USAGE.input,
        completion_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
        prompt_tokens_details: { cached_tokens: USAGE.cached },
        completion_tokens_details: { reasoning_tokens: USAGE.reasoning },
      },
    }
  },
  buildStream: streamFrames,
}

const BAD_KEY = errorResponse(
  401,
  'Incorrect API key provided: none.',
  'invalid_request_error',
  'invalid_api_key',
)

function errorResponse(
  status: number,
  message: string,
  type: string,
  code: string | null,
): ErrorResponse {
  return { status, body: { error: { message, type, param: null, code } } }
}

function textOf(parts: readonly AnswerPart[], type: AnswerPart['type']): string {
  return parts.flatMap((part) => (part.type === type && 'text' in part ? [part.text] : [])).join('')
}

function callOf(
  { name, input }: Extract<AnswerPart, { type: 'call' }>,
  number: number,
  at: number,
) {
  const made = { name, arguments: JSON.stringify(input) }
  return { id: `call_${number}_${at}`, type: 'function', function: made } as const
}

function thinking(text: string, model: string, issued: IssuedSeals): JsonObject {
  if (!isRouted(model)) return { reasoning_content: text }
  const signature = issued.seal('or', text)
  const format = 'anthropic-claude-v1'
  const details = [{ type: 'reasoning.text', text, signature, format, index: 0 }]
  return { reasoning: text, reasoning_details: details }
}

function isRouted(model: string): boolean {
  return model.includes('/')
}

/** Rules that only some services have. */
function ownFaults(body: JsonObject): readonly string[] {
  const model = String(body['model'])
  const messages = objects(body['messages'])
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  return messages.flatMap((message, at) => {
    const isCalling = message['tool_calls'] !== undefined
    if (model.startsWith('strict-')) return turnFaults(messages, at)
    if (!model.startsWith('deepseek-') || at < asked || !isCalling) return []
    return typeof message['reasoning_content'] === 'string'
      ? []
      : [`Missing \`reasoning_content\` field in the assistant message at message index ${at}.`]
  })
}

/** A chat template that raises an exception, as vLLM and llama.cpp return it. */
function turnFaults(messages: readonly JsonObject[], at: number): readonly string[] {
  const role = messages[at]?.['role']
  const before = messages[at - 1]?.['role']
  const isLate = role === 'system' && before !== 'system' && at > 0
  const isRepeated = (role === 'user' || role === 'assistant') && role === before
  return isLate || isRepeated || role === 'developer'
    ? ['Conversation roles must alternate user/assistant/user/assistant/...']
    : []
}

function streamFrames(whole: JsonObject, manner: AnswerStyle): readonly string[] {
  const { id, created, model, usage } = whole
  const [choice = {}] = objects(whole['choices'])
  const head = { id, object: 'chat.completion.chunk', created, model }
  const isOdd = manner === 'odd'
  const chunk = (delta: JsonObject, finish_reason: JsonObject[string] = null, more = {}) => {
    const said = isOdd ? { role: 'assistant', content: '', ...delta } : delta
    return { ...head, choices: [{ index: 0, delta: said, finish_reason }], ...more }
  }
  const deltas = deltasOf(object(choice['message']), isOdd)
  const chunks: JsonObject[] = [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, choice['finish_reason'], isOdd ? { usage } : {}),
    ...(isOdd ? [] : [{ ...head, choices: [], usage }]),
  ]
  return isOdd
    ? chunks.flatMap((one) => [': PROCESSING\r\n\r\n', `data:${JSON.stringify(one)}\r\n\r\n`])
    : [...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), 'data: [DONE]\n\n']
}

function deltasOf(message: JsonObject, isOdd: boolean): readonly JsonObject[] {
  const { reasoning_content: own, reasoning, reasoning_details: details, content } = message
  const [signed] = objects(details)
  const thoughts =
    signed === undefined
      ? splitIntoPieces(String(own ?? '')).map((piece) => ({ reasoning_content: piece }))
      : [
          ...splitIntoPieces(String(reasoning)).map((piece) => ({
            reasoning: piece,
            reasoning_details: [{ ...signed, signature: undefined, text: piece }],
          })),
          { reasoning_details: [{ ...signed, text: undefined }] },
        ]
  return [
    ...thoughts,
    ...splitIntoPieces(String(content ?? '')).map((piece) => ({ content: piece })),
    ...splitIntoPieces(String(message['refusal'] ?? '')).map((piece) => ({ refusal: piece })),
    ...objects(message['tool_calls']).flatMap((call, index) => callDeltas(call, index, isOdd)),
  ]
}

/** Sends a call in one delta, or its arguments in pieces. */
function callDeltas(call: JsonObject, index: number, isOdd: boolean): readonly JsonObject[] {
  if (isOdd) return [{ tool_calls: [{ index, ...call }] }]
  const { name, arguments: text } = object(call['function'])
  return [
    { tool_calls: [{ index, ...call, function: { name, arguments: '' } }] },
    ...splitIntoPieces(String(text)).map((piece) => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ]
}
