/**
 * The Messages API: signs thinking, which must be sent back unchanged, and rejects invalid requests with the
 * service's messages.
 */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { findAnthropicRefusal } from '../anthropic-laws.ts'
import { COMPACTION_BETA, readMessages } from '../anthropic-compaction-laws.ts'
import { compactIfDue, compactionFaults, questionIn } from './anthropic-compaction.ts'
import {
  bindingFaults,
  changedThinking,
  messagesIn,
  rememberIssuedThinking,
  signatureFaults,
} from './anthropic-thinking.ts'
import { USAGE, type AnswerPart } from './simulated-model.ts'
import {
  KEY,
  object,
  objects,
  splitIntoPieces,
  textIn,
  textsIn,
  type IssuedSeals,
  type AnswerStyle,
  type ErrorResponse,
  type Service,
} from './service.ts'

export const anthropic: Service = {
  name: 'anthropic',
  serves: (path) => path.endsWith('/messages'),
  wantsStream: ({ body }) => body['stream'] === true,
  findViolation({ body, headers }) {
    if (!KEY.test(String(headers['x-api-key']))) {
      return errorResponse(401, 'authentication_error', 'invalid x-api-key')
    }
    if (headers['anthropic-version'] !== '2023-06-01') {
      return errorResponse(400, 'invalid_request_error', 'anthropic-version: header is required')
    }
    const betas = String(headers['anthropic-beta'] ?? '').split(',')
    if (body['context_management'] !== undefined && !betas.includes(COMPACTION_BETA)) {
      return errorResponse(
        400,
        'invalid_request_error',
        'context_management: Extra inputs are not permitted',
      )
    }
    const refusal = findAnthropicRefusal(body)
    return refusal === null ? null : { status: 400, body: refusal }
  },
  findInvalidSeal({ body, headers }, issued) {
    const account = String(headers['x-api-key'])
    const [fault] = [
      ...signatureFaults(body, issued),
      ...compactionFaults(body, account, issued),
      ...bindingFaults(body, account, issued),
      ...changedThinking(body, issued),
    ]
    return fault === undefined ? null : errorResponse(400, 'invalid_request_error', fault)
  },
  read({ body }) {
    const messages = readMessages(messagesIn(body))
    const summarised = messages.flatMap(({ content }) => questionIn(content))
    const isAsked = (message: JsonObject) =>
      message['role'] === 'user' &&
      objects(message['content']).some(({ type }) => type === 'text' || type === 'image')
    const asked = messages.findLastIndex(isAsked)
    const last = messages.at(-1)
    const format = object(object(body['output_config'])['format'])
    const answerTool = objects(body['tools']).find(({ name }) => name === forcedTool(body))
    return {
      system: objects(body['system'])
        .map(({ text }) => String(text))
        .join(' '),
      questions: [
        ...summarised,
        ...messages.filter(isAsked).flatMap(({ content }) => textsIn(content)),
      ],
      outputs: messages
        .slice(Math.max(0, asked))
        .flatMap(({ content }) => objects(content))
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => textIn(content)),
      tools: objects(body['tools']).map(({ name }) => String(name)),
      schema: isObject(format['schema'])
        ? format['schema']
        : answerTool === undefined
          ? null
          : object(answerTool['input_schema']),
      images: objects(messages[asked]?.['content']).filter(({ type }) => type === 'image').length,
      prefill: last?.['role'] === 'assistant' ? textIn(last['content']) : null,
      mayThink: mayThink(body),
    }
  },
  buildBody({ parts, isCut }, { body, headers }, { number, issued }) {
    const account = String(headers['x-api-key'])
    const compacted = compactIfDue(body, account, issued)
    const content = [
      ...(compacted?.content ?? []),
      ...parts.flatMap((part, at) => blockOf(part, `${number}_${at}`, body, issued)),
    ]
    rememberIssuedThinking(content, body, account, issued)
    const refusal = parts.find(({ type }) => type === 'refusal')
    const isCalling = content.some(({ type }) => type === 'tool_use')
    return {
      id: `msg_${number}`,
      type: 'message',
      role: 'assistant',
      model: body['model'],
      content,
      stop_reason: isCut
        ? 'max_tokens'
        : refusal !== undefined
          ? 'refusal'
          : isCalling
            ? 'tool_use'
            : 'end_turn',
      stop_sequence: null,
      stop_details:
        refusal !== undefined && 'text' in refusal
          ? { type: 'refusal', category: null, explanation: refusal.text }
          : null,
      usage: {
        input_tokens: USAGE.input - USAGE.cached,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: USAGE.cached,
        output_tokens: USAGE.output,
        output_tokens_details: { thinking_tokens: USAGE.reasoning },
        ...(compacted === null ? {} : { iterations: compacted.iterations }),
      },
    }
  },
  buildStream: streamFrames,
}

function errorResponse(status: number, type: string, message: string): ErrorResponse {
  const error = { type, message }
  return { status, body: { type: 'error', error, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' } }
}

/** Returns the tool that replaces a response format for models without one. */
function forcedTool(body: JsonObject): unknown {
  const { type, name } = object(body['tool_choice'])
  return type === 'tool' && String(name).includes('json') ? name : null
}

function mayThink(body: JsonObject): boolean {
  const { type } = object(body['thinking'])
  if (type !== undefined) return type !== 'disabled'
  return /claude-[a-z]+-5/.test(String(body['model']))
}

function blockOf(
  part: AnswerPart,
  id: string,
  body: JsonObject,
  issued: IssuedSeals,
): readonly JsonObject[] {
  switch (part.type) {
    case 'thought': {
      const { text: thinking } = part
      return [{ type: 'thinking', thinking, signature: issued.seal('Er', thinking) }]
    }
    case 'call':
      return [{ type: 'tool_use', id: `toolu_${id}`, name: part.name, input: part.input }]
    case 'text': {
      const tool = part.text.startsWith('{') ? forcedTool(body) : null
      if (tool === null) return [{ type: 'text', text: part.text }]
      const input = JSON.parse(part.text) as JsonObject
      return [{ type: 'tool_use', id: `toolu_${id}`, name: String(tool), input }]
    }
    case 'refusal':
      return []
  }
}

function streamFrames(whole: JsonObject, manner: AnswerStyle): readonly string[] {
  const { content, stop_reason, stop_sequence, stop_details, usage } = whole
  const begun = { ...object(usage), output_tokens: 1 }
  const message = { ...whole, content: [], stop_reason: null, stop_details: null, usage: begun }
  const isOdd = manner === 'odd'
  const events: JsonObject[] = [
    { type: 'message_start', message },
    ...objects(content).flatMap((block, index) => blockEvents(block, index, isOdd)),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details },
      usage: isOdd
        ? {
            output_tokens: USAGE.output,
            output_tokens_details: object(usage)['output_tokens_details'],
          }
        : usage,
    },
    { type: 'message_stop' },
  ]
  const end = isOdd ? '\r\n' : '\n'
  return events.flatMap((event) => [
    ...(isOdd ? [`event: ping${end}data: {"type": "ping"}${end}${end}`] : []),
    `event: ${String(event['type'])}${end}data: ${JSON.stringify(event)}${end}${end}`,
  ])
}

function blockEvents(block: JsonObject, index: number, isOdd: boolean): readonly JsonObject[] {
  const { start, deltas } = blockDeltas(block, isOdd)
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function blockDeltas(
  block: JsonObject,
  isOdd: boolean,
): { readonly start: JsonObject; readonly deltas: readonly JsonObject[] } {
  const { type, thinking, signature, text, input } = block
  if (type === 'thinking') {
    return {
      start: { type, thinking: '', signature: '' },
      deltas: [
        ...splitIntoPieces(String(thinking)).map((piece) => ({
          type: 'thinking_delta',
          thinking: piece,
        })),
        { type: 'signature_delta', signature },
      ],
    }
  }
  if (type === 'compaction') {
    const sealed = isOdd ? { encrypted_content: null } : {}
    const delta = { type: 'compaction_delta', content: block['content'], ...sealed }
    return { start: { type, content: null }, deltas: [delta] }
  }
  if (type === 'text') {
    const told = splitIntoPieces(String(text)).map((piece) => ({ type: 'text_delta', text: piece }))
    return { start: { type, text: '' }, deltas: told }
  }
  const json = JSON.stringify(input)
  const cuts = isOdd ? ['', json] : ['', ...splitIntoPieces(json)]
  const deltas = cuts.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  return { start: { ...block, input: {} }, deltas }
}
