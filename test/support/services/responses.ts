/**
 * OpenAI's Responses API. Reasoning is sealed, and readable again under the seal alone: with another
 * id, out of another service, or without what came behind it, it is refused.
 */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { responsesComplaints } from '../responses-laws.ts'
import { USAGE, type Beat } from './model.ts'
import { compactionFor, newestCompaction } from './responses-compaction.ts'
import { responsesEvents } from './responses-events.ts'
import {
  KEY,
  object,
  objects,
  textIn,
  type Issued,
  type Place,
  type Refusal,
  type Request,
  type Service,
} from './service.ts'

export const responses: Service = {
  name: 'responses',
  serves: (path) => path.endsWith('/responses'),
  wantsStream: ({ body }) => body['stream'] === true,
  breach({ body, headers }) {
    if (!KEY.test(accountOf(headers))) {
      return refused(401, 'Incorrect API key provided: none.', 'invalid_api_key', null)
    }
    const [complaint] = responsesComplaints(body).filter((one) => !one.includes('not persisted'))
    return complaint === undefined ? null : refused(400, complaint, null, 'input')
  },
  forgery({ body, headers }, issued) {
    const items = objects(body['input'])
    return sealFault(items, accountOf(headers), issued) ?? passOver(body, items, issued)
  },
  read({ body }) {
    const items = objects(body['input'])
    const asked = items.findLastIndex(({ role }) => role === 'user')
    const format = object(object(body['text'])['format'])
    const last = items.at(-1)
    return {
      system: [
        String(body['instructions'] ?? ''),
        ...items
          .filter(({ role }) => role === 'system' || role === 'developer')
          .map(({ content }) => textIn(content)),
      ]
        .filter((text) => text !== '')
        .join(' '),
      questions: items.filter(({ role }) => role === 'user').map(({ content }) => textIn(content)),
      outputs: items
        .slice(asked + 1)
        .filter(({ type }) => type === 'function_call_output')
        .map(({ output }) => textIn(output)),
      tools: objects(body['tools']).map(({ name }) => String(name)),
      schema: isObject(format['schema']) ? format['schema'] : null,
      images: objects(items[asked]?.['content']).filter(({ type }) => type === 'input_image')
        .length,
      prefill: last?.['role'] === 'assistant' ? textIn(last['content']) : null,
      mayThink: object(body['reasoning'])['effort'] !== 'none',
    }
  },
  whole({ beats, isCut }, { body, headers }, place) {
    const output = [
      ...compactionFor(body, place),
      ...beats.map((beat, at) => itemOf(beat, at, isCut, body, place)),
    ]
    const reasoning = output.find(({ type }) => type === 'reasoning')
    for (const { id, type } of output) {
      if (type === 'function_call' && reasoning !== undefined) {
        place.issued.note(String(id), reasoning['id'] ?? null)
      }
    }
    for (const [at, { encrypted_content: sealed }] of output.entries()) {
      if (typeof sealed !== 'string') continue
      const before = prefixOf([...objects(body['input']), ...output.slice(0, at)])
      place.issued.note(`made ${sealed}`, { account: accountOf(headers), before })
    }
    return {
      id: `resp_up${place.number}`,
      object: 'response',
      created_at: 1_700_000_000,
      status: isCut ? 'incomplete' : 'completed',
      background: false,
      error: null,
      incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
      instructions: body['instructions'] ?? null,
      max_output_tokens: body['max_output_tokens'] ?? null,
      metadata: {},
      model: body['model'],
      output,
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: 'medium', summary: null },
      service_tier: 'default',
      store: false,
      temperature: 1,
      text: body['text'] ?? { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: body['tool_choice'] ?? 'auto',
      tools: body['tools'] ?? [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      usage: {
        input_tokens: USAGE.input,
        input_tokens_details: { cached_tokens: USAGE.cached },
        output_tokens: USAGE.output,
        output_tokens_details: { reasoning_tokens: USAGE.reasoning },
        total_tokens: USAGE.input + USAGE.output,
      },
      user: null,
    }
  },
  stream: responsesEvents,
}

function accountOf(headers: Request['headers']): string {
  return String(headers['authorization']).replace('Bearer ', '')
}

function refused(
  status: number,
  message: string,
  code: string | null,
  param: string | null,
): Refusal {
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } }
}

function itemOf(
  beat: Beat,
  at: number,
  isCut: boolean,
  { include }: JsonObject,
  { number, issued }: Place,
): JsonObject {
  const status = isCut ? 'incomplete' : 'completed'
  const place = `${number}_${at}`
  switch (beat.type) {
    case 'thought': {
      const id = `rs_${place}`
      const asksForSeal = Array.isArray(include) && include.includes('reasoning.encrypted_content')
      return {
        id,
        type: 'reasoning',
        ...(asksForSeal ? { encrypted_content: issued.seal('gAAAA', id) } : {}),
        summary: [{ type: 'summary_text', text: beat.text }],
      }
    }
    case 'text': {
      const part = { type: 'output_text', annotations: [], logprobs: [], text: beat.text }
      return { id: `msg_${place}`, type: 'message', status, content: [part], role: 'assistant' }
    }
    case 'refusal': {
      const part = { type: 'refusal', refusal: beat.text }
      return { id: `msg_${place}`, type: 'message', status, content: [part], role: 'assistant' }
    }
    case 'call': {
      const { name, input } = beat
      const call = { call_id: `call_${place}`, name, arguments: JSON.stringify(input) }
      return { id: `fc_${place}`, type: 'function_call', status: 'completed', ...call }
    }
  }
}

/**
 * A sealed item may have its own id or none. A call that comes back under its id asks for the
 * reasoning that led to it.
 */
function sealFault(items: readonly JsonObject[], account: string, issued: Issued): Refusal | null {
  const ids = new Set(items.map(({ id }) => id))
  for (const { type, id, encrypted_content: sealed } of items) {
    if (type === 'function_call' && id !== undefined) {
      const needed = issued.find(id)
      if (needed !== undefined && !ids.has(needed)) {
        const message = `Item '${String(id)}' of type 'function_call' was provided without its required 'reasoning' item: '${String(needed)}'.`
        return refused(400, message, null, 'input')
      }
    }
    if (type !== 'reasoning' && type !== 'compaction') continue
    if (typeof sealed !== 'string') {
      const message = `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
      return refused(404, message, null, 'input')
    }
    const own = issued.find(sealed)
    const why =
      own === undefined
        ? 'Encrypted content could not be decrypted or parsed.'
        : id !== undefined && id !== own
          ? 'Encrypted content item_id did not match the target item id.'
          : object(issued.find(`made ${sealed}`))['account'] !== account
            ? 'Encrypted content organization_id did not match the target organization.'
            : null
    if (why !== null) {
      const message = `The encrypted content ${sealed.slice(0, 4)}...${sealed.slice(-4)} could not be verified. Reason: ${why}`
      return refused(400, message, 'invalid_encrypted_content', null)
    }
  }
  return null
}

/** The newest models leave out reasoning whose messages are not those it was made on. */
function passOver({ model }: JsonObject, items: readonly JsonObject[], issued: Issued): null {
  if (!/^gpt-5\.[6-9]/.test(String(model))) return null
  for (const [at, { type, encrypted_content: sealed }] of items.entries()) {
    if (typeof sealed !== 'string' || type === 'compaction') continue
    const { before } = object(issued.find(`made ${sealed}`))
    if (before !== prefixOf(items.slice(0, at))) issued.dropped.push(`input[${at}]`)
  }
  return null
}

/** A compaction stands for all that was in front of it. */
function prefixOf(items: readonly JsonObject[]): string {
  const told = items.slice(newestCompaction(items))
  return JSON.stringify(told.map(({ id: _id, status: _status, ...said }) => said))
}
