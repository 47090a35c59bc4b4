/**
 * Patches a Responses answer that is passed through, that is, forwarded as the upstream sent it.
 * Inserts into the response object the id under which the answer is stored, the client's own value of
 * each request field that the gateway changed before it sent the request to the upstream, and required
 * fields and call ids that the upstream omitted. Removes hostile fields from all events, and encrypted reasoning that
 * only the gateway requested.
 */
import {
  isObject,
  type Json,
  type JsonObject,
  tryParseJsonObject,
} from '../../../core/json/json.ts'
import { patchObject } from '../../../core/json/patch-object.ts'
import type { AnswerContext, PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import type { Failure } from '../../../core/stream-event.ts'
import type { SseMessage } from '../../../core/stream/sse.ts'
import type { TextDeltaMessagePattern } from '../../../core/stream/text-delta-message-pattern.ts'
import { responseId } from '../../../core/turn-derived-ids.ts'
import { createCachingMessageParser, WITHOUT_HOSTILE_FIELDS } from '../../pass-through-json.ts'
import {
  renderRequestFields,
  INITIAL_PROGRESS,
  renderErrorEventFields,
  renderProgressFields,
  type ResponseProgress,
  type ResponseStatus,
} from '../render/render-response-fields.ts'
import { decideReasoningVisibility } from '../render/reasoning-visibility.ts'
import { addMissingResponseFields } from './add-missing-response-fields.ts'
import { createStreamCallIdFiller, fillResponseCallIds } from './fill-call-ids.ts'
import { hideEncryptedOutput, hideEncryptedReasoning } from './hide-encrypted-reasoning.ts'
import { createEventShortener } from '../render/shorten-events-over-limit.ts'

const RESPONSE_EVENTS: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
])
const ITEM_EVENTS: ReadonlySet<string> = new Set([
  'response.output_item.added',
  'response.output_item.done',
])
const END_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

export function createResponsesPassThroughPatcher(
  answerContext: AnswerContext,
): PassThroughPatcher {
  const patchResponse = createResponsePatcher(answerContext)
  const hidesEncrypted = !decideReasoningVisibility(answerContext).showsEncryptedReasoning
  const parse = createCachingMessageParser()
  const progress: StreamProgress = { lastMessage: null, response: null, itemEnds: [] }
  const shorten = createEventShortener(answerContext)
  return {
    addMissingCallIds: createStreamCallIdFiller(),
    patchMessage(message) {
      progress.lastMessage = message
      const type = readType(message, parse)
      const hasResponse = RESPONSE_EVENTS.has(type)
      const hasEncrypted =
        hidesEncrypted && ITEM_EVENTS.has(type) && message.data.includes('"encrypted_content"')
      const mayChange = hasResponse || hasEncrypted || MAY_BE_HOSTILE.test(message.data)
      const json = mayChange ? parse(message) : null
      let patched = json === null ? null : patchObject(json, WITHOUT_HOSTILE_FIELDS)
      if (patched !== null && hasResponse && isObject(patched['response'])) {
        progress.response = patchResponse(patched['response'], readStatus(type))
        patched = patchObject(patched, { response: progress.response })
      }
      if (patched !== null && hasEncrypted)
        patched = patchObject(patched, { item: hideEncryptedReasoning(patched['item']) })
      const result =
        patched === null || patched === json
          ? message
          : { ...message, data: JSON.stringify(patched) }
      if (type === 'response.output_item.done') progress.itemEnds.push(result)
      return shorten(result, result === message ? parse : () => patched)
    },
    textDeltaPattern: PLAIN_TEXT_DELTA,
    startsEnding: (message) =>
      message.data === '[DONE]' || END_EVENTS.has(readType(message, parse)),
    patchBody: (body, outcome) =>
      body['object'] === 'response'
        ? patchResponse(fillResponseCallIds(body, outcome?.items ?? []), 'completed')
        : body,
    renderFailure: (failure) =>
      renderFailedEnding(failure, progress, answerContext).map((message) => shorten(message)),
  }
}

/**
 * Matches messages that may contain a hostile field. An escaped character (`\u00…`) also matches,
 * because it could hide a letter of the field's name.
 */
const MAY_BE_HOSTILE = /"(?:event|selected_model_id|sources)"|\\u00/

/**
 * Matches an event that contains only a text delta. All other events are parsed: those with
 * annotations, items, parts or logprobs, and those that may be hostile.
 */
const PLAIN_TEXT_DELTA: TextDeltaMessagePattern = {
  before: /^\{[^{}[\]]*?"delta": ?"/,
  after: /^"/,
  excludedPatterns: [
    MAY_BE_HOSTILE,
    /"(?:annotation|item|part)"|"delta".*"delta"|"logprobs"\s*:\s*\[\s*\{/s,
  ],
}

/**
 * The last message, the response object and the finished items that the stream has contained so
 * far; `null` before the first. If the stream breaks off, its ending is rendered from them.
 */
interface StreamProgress {
  lastMessage: SseMessage | null
  response: JsonObject | null
  readonly itemEnds: SseMessage[]
}

/**
 * Creates a function that patches response objects. The response object of an answer that is not
 * stored keeps the upstream's id, unless later requests can refer to the answer, and gets no empty
 * value, such as `metadata: {}`, for a field that the upstream omitted. Only `store: false` is always
 * there if the client did not ask for it, because the client could otherwise rely on the id.
 */
function createResponsePatcher(
  answerContext: AnswerContext,
): (response: JsonObject, status: ResponseStatus) => JsonObject {
  const {
    isStored,
    needsGatewayId,
    turnId,
    clientRequest,
    completesResponse = false,
  } = answerContext
  const hidesEncrypted = !decideReasoningVisibility(answerContext).showsEncryptedReasoning
  const hasOwnId = isStored || needsGatewayId === true
  const gatewayFields = Object.entries({
    ...renderGatewayFields(answerContext),
    ...(hasOwnId ? { id: responseId(turnId) } : {}),
  })
  return (sentResponse, status) => {
    const completed = completesResponse
      ? addMissingResponseFields(sentResponse, status, answerContext)
      : sentResponse
    const response = hidesEncrypted ? hideEncryptedOutput(completed) : completed
    const changes = gatewayFields.filter(([name, value]) => {
      const mustBeVisible = name === 'store' && clientRequest.storage.store !== false
      if (!isStored && !mustBeVisible && response[name] === undefined && isEmptyValue(value))
        return false
      return JSON.stringify(response[name]) !== JSON.stringify(value)
    })
    return patchObject(response, Object.fromEntries(changes))
  }
}

/**
 * Renders the request fields that the gateway may have changed before it sent the request to the
 * upstream, with the client's values.
 */
function renderGatewayFields(answerContext: AnswerContext): JsonObject {
  const echo = renderRequestFields(answerContext)
  const { maxOutputTokens, promptCacheKey, safetyIdentifier, user } =
    answerContext.clientRequest.params
  const optionalFields = {
    conversation: echo['conversation'],
    max_output_tokens: maxOutputTokens,
    prompt_cache_key: promptCacheKey,
    safety_identifier: safetyIdentifier,
    user,
  }
  return {
    store: echo['store'],
    background: echo['background'],
    previous_response_id: echo['previous_response_id'],
    instructions: echo['instructions'],
    metadata: echo['metadata'],
    ...Object.fromEntries(
      Object.entries(optionalFields).filter(([, value]) => (value ?? null) !== null),
    ),
  }
}

/** Returns the status of the response object in an event, e.g. `completed` in `response.completed`. */
function readStatus(eventType: string): ResponseStatus {
  const status = eventType.slice('response.'.length)
  return status === 'created' ? 'in_progress' : (status as ResponseStatus)
}

function isEmptyValue(value: Json | undefined): boolean {
  return value === null || value === false || (isObject(value) && Object.keys(value).length === 0)
}

/**
 * Reads the type of a message from its event name. Without an event name, the message is parsed if
 * it contains a field `response`, `error` or `item`; for others the result is `''`. Text of the
 * model is not mistaken for such a field, because its quotes are escaped.
 */
function readType(message: SseMessage, parse: (message: SseMessage) => JsonObject | null): string {
  const { event, data } = message
  if (event !== undefined && event !== 'message') return event
  if (!/"(?:response|error|item)":/.test(data)) return ''
  const type = parse(message)?.['type']
  return typeof type === 'string' ? type : ''
}

/**
 * Renders the end of a stream that broke off. The end continues the `sequence_number` of the
 * stream, and contains the response object with the items that were finished.
 */
function renderFailedEnding(
  failure: Failure,
  { lastMessage, response: lastResponse, itemEnds }: StreamProgress,
  answerContext: AnswerContext,
): readonly SseMessage[] {
  const last =
    lastMessage === null ? null : tryParseJsonObject(lastMessage.data)?.['sequence_number']
  const next = typeof last === 'number' ? last + 1 : 0
  const progress: ResponseProgress = { ...INITIAL_PROGRESS, status: 'failed', failure }
  const { status, error, ...initialFields } = renderProgressFields(progress, answerContext)
  const response = JSON.stringify({
    ...(lastResponse ?? { ...initialFields, ...renderRequestFields(answerContext) }),
    status,
    error,
    output: collectFinishedItems(itemEnds),
  })
  return [
    {
      event: 'error',
      data: `{"type":"error",${renderErrorEventFields(failure)},"sequence_number":${next}}`,
    },
    {
      event: 'response.failed',
      data: `{"type":"response.failed","response":${response},"sequence_number":${next + 1}}`,
    },
    { data: '[DONE]' },
  ]
}

function collectFinishedItems(messages: readonly SseMessage[]): readonly JsonObject[] {
  const items: JsonObject[] = []
  for (const { data } of messages) {
    const { output_index: index, item } = tryParseJsonObject(data) ?? {}
    if (typeof index === 'number' && isObject(item)) items[index] = item
  }
  return items.filter((item) => item !== undefined)
}
