/**
 * The Messages API. Thinking is signed, and must come back as it was given; what is refused is
 * refused in the service's own words.
 */
import { isObject, type JsonObject } from '../../../src/conversation/json.ts'
import { anthropicRefusal } from '../anthropic-laws.ts'
import { USAGE, type Beat } from './model.ts'
import {
  KEY,
  object,
  objects,
  pieces,
  textIn,
  textsIn,
  type Issued,
  type Manner,
  type Refusal,
  type Service,
} from './service.ts'

export const anthropic: Service = {
  name: 'anthropic',
  serves: (path) => path.endsWith('/messages'),
  wantsStream: ({ body }) => body['stream'] === true,
  breach({ body, headers }) {
    if (!KEY.test(String(headers['x-api-key']))) {
      return refused(401, 'authentication_error', 'invalid x-api-key')
    }
    if (headers['anthropic-version'] !== '2023-06-01') {
      return refused(400, 'invalid_request_error', 'anthropic-version: header is required')
    }
    const refusal = anthropicRefusal(body)
    return refusal === null ? null : { status: 400, body: refusal }
  },
  forgery({ body, headers }, issued) {
    const account = String(headers['x-api-key'])
    const [fault] = [
      ...signatureFaults(body, issued),
      ...bindingFaults(body, account, issued),
      ...changedThinking(body, issued),
    ]
    return fault === undefined ? null : refused(400, 'invalid_request_error', fault)
  },
  read({ body }) {
    const messages = objects(body['messages'])
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
      questions: messages.filter(isAsked).flatMap(({ content }) => textsIn(content)),
      outputs: messages
        .slice(asked)
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
  whole({ beats, isCut }, { body, headers }, { number, issued }) {
    const content = beats.flatMap((beat, at) => blockOf(beat, `${number}_${at}`, body, issued))
    remember(content, body, String(headers['x-api-key']), issued)
    const refusal = beats.find(({ type }) => type === 'refusal')
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
      },
    }
  },
  stream: streamed,
}

function refused(status: number, type: string, message: string): Refusal {
  const error = { type, message }
  return { status, body: { type: 'error', error, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' } }
}

/** The tool that stands in for a format, with models that have none. */
function forcedTool(body: JsonObject): unknown {
  const { type, name } = object(body['tool_choice'])
  return type === 'tool' && String(name).includes('json') ? name : null
}

function mayThink(body: JsonObject): boolean {
  const { type } = object(body['thinking'])
  if (type !== undefined) return type !== 'disabled'
  return /claude-[a-z]+-5/.test(String(body['model']))
}

function blockOf(beat: Beat, id: string, body: JsonObject, issued: Issued): readonly JsonObject[] {
  switch (beat.type) {
    case 'thought': {
      const { text: thinking } = beat
      return [{ type: 'thinking', thinking, signature: issued.seal('Er', thinking) }]
    }
    case 'call':
      return [{ type: 'tool_use', id: `toolu_${id}`, name: beat.name, input: beat.input }]
    case 'text': {
      const tool = beat.text.startsWith('{') ? forcedTool(body) : null
      if (tool === null) return [{ type: 'text', text: beat.text }]
      const input = JSON.parse(beat.text) as JsonObject
      return [{ type: 'tool_use', id: `toolu_${id}`, name: String(tool), input }]
    }
    case 'refusal':
      return []
  }
}

function signatureFaults(body: JsonObject, issued: Issued): readonly string[] {
  return objects(body['messages']).flatMap(({ content }, message) =>
    objects(content).flatMap(({ type, thinking, signature }, at) =>
      type !== 'thinking' || issued.find(signature) === thinking
        ? []
        : [`messages.${message}.content.${at}: Invalid \`signature\` in \`thinking\` block`],
    ),
  )
}

/** Under a call's id the thinking that led to it, under a signature where it was made. */
function remember(
  content: readonly JsonObject[],
  body: JsonObject,
  account: string,
  issued: Issued,
): void {
  const thinking = thoughtsIn(content)
  for (const [at, { type, id, signature }] of content.entries()) {
    if (type === 'tool_use') issued.note(String(id), thinking)
    if (type !== 'thinking') continue
    const before = prefixOf(body, Infinity, content.slice(0, at))
    issued.note(`made ${String(signature)}`, { model: body['model'], account, before })
  }
}

/** What a model does not read is passed over; what it reads must be where it was made. */
function bindingFaults(body: JsonObject, account: string, issued: Issued): readonly string[] {
  const model = String(body['model'])
  return objects(body['messages']).flatMap(({ content }, message) =>
    objects(content).flatMap(({ type, signature }, at) => {
      const made = issued.find(`made ${String(signature)}`)
      if (type !== 'thinking' || !isObject(made)) return []
      const place = `messages.${message}.content.${at}`
      if (!reads(model, String(made['model']))) {
        issued.dropped.push(place)
        return []
      }
      const before = prefixOf(body, message, objects(content).slice(0, at))
      const isMoved = isPreserved(model) && made['before'] !== before
      const isElsewhere = /-(sonnet|haiku)-5-5/.test(model) && made['account'] !== account
      return isMoved || isElsewhere
        ? [
            `${place}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different ${isMoved ? 'conversation' : 'account'}.`,
          ]
        : []
    }),
  )
}

/** The newest models bind their thinking to all that was in front of it. */
function isPreserved(model: string): boolean {
  return /claude-[a-z]+-5-[1-9]/.test(model)
}

/** Each reads its own, and some read others'. The thinking of the newest is for nobody else. */
function reads(model: string, maker: string): boolean {
  if (model === maker || !(isPreserved(model) || isPreserved(maker))) return true
  return model.includes('fable-5-1') && /opus-5(-5)?$/.test(maker)
}

/** Where the cache is marked does not matter. */
function prefixOf(
  { system, tools, messages }: JsonObject,
  end: number,
  blocks: readonly JsonObject[],
): string {
  const before = [system, tools, objects(messages).slice(0, end), blocks]
  return JSON.stringify(before, (name, value: unknown) =>
    name === 'cache_control' ? undefined : value,
  )
}

/** In the running turn thinking stays with its calls: all of it as it was, or none. */
function changedThinking(body: JsonObject, issued: Issued): readonly string[] {
  const messages = objects(body['messages'])
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const content = objects(messages[at]?.['content'])
  const thoughts = thoughtsIn(content)
  const calls = content.filter(({ type }) => type === 'tool_use')
  const isRunning = at === messages.length - 2
  if (!isRunning || calls.length === 0) return []
  const given = calls.map(({ id }) => issued.find(String(id))).filter((one) => one !== undefined)
  const isChanged = given.some((one) => JSON.stringify(one) !== JSON.stringify(thoughts))
  return isChanged && thoughts.length > 0
    ? [
        `messages.${at}.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
      ]
    : []
}

function thoughtsIn(content: readonly JsonObject[]): readonly string[] {
  return content.flatMap(({ type, thinking }) => (type === 'thinking' ? [String(thinking)] : []))
}

function streamed(whole: JsonObject, manner: Manner): readonly string[] {
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
  const { start, deltas } = toldOf(block, isOdd)
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function toldOf(
  block: JsonObject,
  isOdd: boolean,
): { readonly start: JsonObject; readonly deltas: readonly JsonObject[] } {
  const { type, thinking, signature, text, input } = block
  if (type === 'thinking') {
    return {
      start: { type, thinking: '', signature: '' },
      deltas: [
        ...pieces(String(thinking)).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        { type: 'signature_delta', signature },
      ],
    }
  }
  if (type === 'text') {
    const told = pieces(String(text)).map((piece) => ({ type: 'text_delta', text: piece }))
    return { start: { type, text: '' }, deltas: told }
  }
  const json = JSON.stringify(input)
  const cuts = isOdd ? ['', json] : ['', ...pieces(json)]
  const deltas = cuts.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  return { start: { ...block, input: {} }, deltas }
}
