/**
 * OpenAI's Responses API with encrypted reasoning, which is accepted by its content alone; another id,
 * another account, or a missing following item is an error; so is another model for an account of Azure.
 */
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'
import { findResponsesFaults } from '../responses-laws.ts'
import { USAGE, type AnswerPart } from './simulated-model.ts'
import { compactionFor, newestCompaction } from './responses-compaction.ts'
import { responsesEvents } from './responses-events.ts'
import {
  KEY,
  object,
  objects,
  textIn,
  type IssuedSeals,
  type AnswerContext,
  type ErrorResponse,
  type Request,
  type Service,
} from './service.ts'

export const responses: Service = {
  name: 'responses',
  serves: (path) => path.endsWith('/responses'),
  wantsStream: ({ body }) => body['stream'] === true,
  findViolation({ body, headers }) {
    if (!KEY.test(accountOf(headers))) {
      return errorResponse(401, 'Incorrect API key provided: none.', 'invalid_api_key', null)
    }
    const [complaint] = findResponsesFaults(body).filter((one) => !one.includes('not persisted'))
    return complaint === undefined ? null : errorResponse(400, complaint, null, 'input')
  },
  findInvalidSeal({ body, headers }, issued) {
    const items = objects(body['input'])
    const reader = { account: accountOf(headers), model: body['model'] ?? null }
    return sealFault(items, reader, issued) ?? skipInvalidReasoning(body, items, issued)
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
  buildBody({ parts, isCut }, { body, headers }, place) {
    const output = [
      ...compactionFor(body, place),
      ...parts.map((part, at) => itemOf(part, at, isCut, body, place)),
    ]
    const reasoning = output.find(({ type }) => type === 'reasoning')
    for (const { id, type } of output) {
      if (type === 'function_call' && reasoning !== undefined) {
        place.issued.register(String(id), reasoning['id'] ?? null)
      }
    }
    for (const [at, { encrypted_content: sealed }] of output.entries()) {
      if (typeof sealed !== 'string') continue
      const before = prefixOf([...objects(body['input']), ...output.slice(0, at)])
      const maker = { account: accountOf(headers), model: body['model'] ?? null }
      place.issued.register(`made ${sealed}`, { ...maker, before })
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
  buildStream: responsesEvents,
}

function accountOf(headers: Request['headers']): string {
  return String(headers['authorization']).replace('Bearer ', '')
}

function errorResponse(
  status: number,
  message: string,
  code: string | null,
  param: string | null,
): ErrorResponse {
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } }
}

function itemOf(
  part: AnswerPart,
  at: number,
  isCut: boolean,
  { include }: JsonObject,
  { number, issued }: AnswerContext,
): JsonObject {
  const status = isCut ? 'incomplete' : 'completed'
  const place = `${number}_${at}`
  switch (part.type) {
    case 'thought': {
      const id = `rs_${place}`
      const asksForSeal = Array.isArray(include) && include.includes('reasoning.encrypted_content')
      return {
        id,
        type: 'reasoning',
        ...(asksForSeal ? { encrypted_content: issued.seal('gAAAA', id) } : {}),
        summary: [{ type: 'summary_text', text: part.text }],
      }
    }
    case 'text': {
      const content = { type: 'output_text', annotations: [], logprobs: [], text: part.text }
      return { id: `msg_${place}`, type: 'message', status, content: [content], role: 'assistant' }
    }
    case 'refusal': {
      const content = { type: 'refusal', refusal: part.text }
      return { id: `msg_${place}`, type: 'message', status, content: [content], role: 'assistant' }
    }
    case 'call': {
      const { name, input } = part
      const call = { call_id: `call_${place}`, name, arguments: JSON.stringify(input) }
      return { id: `fc_${place}`, type: 'function_call', status: 'completed', ...call }
    }
  }
}

/** Encrypted items may have their own id or none. A call with its id requires the reasoning before it. */
function sealFault(
  items: readonly JsonObject[],
  { account, model }: { readonly account: string; readonly model: Json },
  issued: IssuedSeals,
): ErrorResponse | null {
  const isBoundToModel = account.includes('azure')
  const ids = new Set(items.map(({ id }) => id))
  for (const { type, id, encrypted_content: sealed } of items) {
    if (type === 'function_call' && id !== undefined) {
      const needed = issued.find(id)
      if (needed !== undefined && !ids.has(needed)) {
        const message = `Item '${String(id)}' of type 'function_call' was provided without its required 'reasoning' item: '${String(needed)}'.`
        return errorResponse(400, message, null, 'input')
      }
    }
    if (type !== 'reasoning' && type !== 'compaction') continue
    if (typeof sealed !== 'string') {
      const message = `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
      return errorResponse(404, message, null, 'input')
    }
    const own = issued.find(sealed)
    const maker = object(issued.find(`made ${sealed}`))
    const why =
      own === undefined
        ? 'Encrypted content could not be decrypted or parsed.'
        : id !== undefined && id !== own
          ? 'Encrypted content item_id did not match the target item id.'
          : maker['account'] !== account
            ? 'Encrypted content organization_id did not match the target organization.'
            : isBoundToModel && type === 'reasoning' && maker['model'] !== model
              ? 'Encrypted content could not be decrypted or parsed.'
              : null
    if (why !== null) {
      const message = `The encrypted content ${sealed.slice(0, 4)}...${sealed.slice(-4)} could not be verified. Reason: ${why}`
      return errorResponse(400, message, 'invalid_encrypted_content', null)
    }
  }
  return null
}

/** The latest models skip reasoning whose preceding messages have changed. */
function skipInvalidReasoning(
  { model }: JsonObject,
  items: readonly JsonObject[],
  issued: IssuedSeals,
): null {
  if (!/^gpt-5\.[6-9]/.test(String(model))) return null
  for (const [at, { type, encrypted_content: sealed }] of items.entries()) {
    if (typeof sealed !== 'string' || type === 'compaction') continue
    const { before } = object(issued.find(`made ${sealed}`))
    if (before !== prefixOf(items.slice(0, at))) issued.dropped.push(`input[${at}]`)
  }
  return null
}

/** A compaction replaces everything before it. */
function prefixOf(items: readonly JsonObject[]): string {
  const told = items.slice(newestCompaction(items))
  return JSON.stringify(told.map(({ id: _id, status: _status, ...said }) => said))
}
