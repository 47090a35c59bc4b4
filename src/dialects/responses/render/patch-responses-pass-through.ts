/**
 * Mends the answer of an upstream that speaks Responses itself. Of its stream only the events that
 * show the whole response are changed, and there only what is the gateway's to say: the id under
 * which the answer is kept, and what the client asked where something else was sent upstream.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import type { Failure } from '../../../core/stream-event.ts'
import { responseId } from '../../../core/turn-derived-ids.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  tryParseJsonObject,
} from '../../../core/json/json.ts'
import type { SseMessage, TextDeltaPattern } from '../../../core/stream/stage.ts'
import type { AnswerContext, PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import {
  renderRequestFields,
  INITIAL_PROGRESS,
  renderProgressFields,
  type ResponseProgress,
} from './render-response-fields.ts'
import { renderErrorEventFields } from './error-event-fields.ts'
import { createEventShortener } from './shorten-events-over-limit.ts'

const SHOWS_RESPONSE: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
])
const ENDS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])
const ITEM_DONE = 'response.output_item.done'

export function createResponsesPassThroughPatcher(answering: AnswerContext): PassThroughPatcher {
  const mended = mender(answering)
  const reader = messageReader()
  const seen: Seen = { last: null, response: null, items: [] }
  const short = createEventShortener(answering)
  return {
    patchMessage(message) {
      seen.last = message
      const type = reader.typeOf(message)
      if (type === ITEM_DONE) seen.items.push(message)
      const showsResponse = SHOWS_RESPONSE.has(type)
      if (!showsResponse && !MAY_BE_HOSTILE.test(message.data)) return short(message, reader.jsonOf)
      const json = reader.jsonOf(message)
      if (json === null) return message
      const changes = Object.fromEntries(HOSTILE.map((name) => [name, undefined]))
      const { response } = json
      if (showsResponse && isObject(response)) {
        seen.response = mended(response)
        Object.assign(changes, { response: seen.response })
      }
      const sent = patchObject(json, changes)
      const told = sent === json ? message : { ...message, data: JSON.stringify(sent) }
      return short(told, () => sent)
    },
    textDeltaPattern: WORDS_ALONE,
    startsEnding: (message) => message.data === '[DONE]' || ENDS.has(reader.typeOf(message)),
    patchBody: (body) => (body['object'] === 'response' ? mended(body) : body),
    renderFailure: (failure) =>
      brokenEnding(failure, seen, answering).map((message) => short(message)),
  }
}

/** Open WebUI runs scripts out of `event`, in any stream; none of these is a word of this API. */
const HOSTILE = ['event', 'selected_model_id', 'sources'] as const

/** An escaped letter could hide a name from a look at the text. */
const MAY_BE_HOSTILE = /"(?:event|selected_model_id|sources)"|\\u00/

/**
 * A delta, whatever it is of, and nothing beside it that would be counted each time. What may be
 * hostile is looked at one by one.
 */
const WORDS_ALONE: TextDeltaPattern = {
  before: /^\{[^{}[\]]*?"delta": ?"/,
  after: /^"/,
  unchangedFields: [
    MAY_BE_HOSTILE,
    /"(?:annotation|item|part)"|"delta".*"delta"|"logprobs"\s*:\s*\[\s*\{/s,
  ],
}

/** What is known of a stream that is passed on, should it break. */
interface Seen {
  last: SseMessage | null
  response: JsonObject | null
  readonly items: SseMessage[]
}

/** An answer that is not kept has no id of ours, and needs nothing said that it leaves unsaid. */
function mender(answering: AnswerContext): (response: JsonObject) => JsonObject {
  const { stored, turnId } = answering
  const ours = Object.entries({
    ...oursIn(answering),
    ...(stored ? { id: responseId(turnId) } : {}),
  })
  return (response) => {
    const changes = ours.filter(([name, value]) => {
      if (!stored && response[name] === undefined && saysNothing(value)) return false
      return JSON.stringify(response[name]) !== JSON.stringify(value)
    })
    return patchObject(response, Object.fromEntries(changes))
  }
}

/** What the client asked, wherever the gateway may have asked something else in its stead. */
function oursIn(answering: AnswerContext): JsonObject {
  const echo = renderRequestFields(answering)
  const { maxOutputTokens, promptCacheKey, safetyIdentifier, user } = answering.clientRequest.params
  const said = {
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
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => (value ?? null) !== null)),
  }
}

function saysNothing(value: Json | undefined): boolean {
  return value === null || value === false || (isObject(value) && Object.keys(value).length === 0)
}

/**
 * Tells the type of a message by its event name. Where an upstream writes none, only a message that
 * might matter is parsed: quotes inside of a text are escaped, so these words cannot stand there.
 */
function messageReader() {
  let read: SseMessage | null = null
  let json: JsonObject | null = null
  const jsonOf = (message: SseMessage): JsonObject | null => {
    if (message !== read) {
      read = message
      json = tryParseJsonObject(message.data)
    }
    return json
  }
  return {
    jsonOf,
    typeOf(message: SseMessage): string {
      const { event, data } = message
      if (event !== undefined && event !== 'message') return event
      if (!/"(?:response|error|item)":/.test(data)) return ''
      const type = jsonOf(message)?.['type']
      return typeof type === 'string' ? type : ''
    },
  }
}

function brokenEnding(
  failure: Failure,
  seen: Seen,
  answering: AnswerContext,
): readonly SseMessage[] {
  const last = seen.last === null ? null : tryParseJsonObject(seen.last.data)?.['sequence_number']
  const next = typeof last === 'number' ? last + 1 : 0
  const progress: ResponseProgress = { ...INITIAL_PROGRESS, status: 'failed', failure }
  const { status, error, ...begun } = renderProgressFields(progress, answering)
  const response = {
    ...(seen.response ?? { ...begun, ...renderRequestFields(answering) }),
    status,
    error,
    output: finishedItems(seen.items),
  }
  const shown = JSON.stringify(response)
  return [
    {
      event: 'error',
      data: `{"type":"error",${renderErrorEventFields(failure)},"sequence_number":${next}}`,
    },
    {
      event: 'response.failed',
      data: `{"type":"response.failed","response":${shown},"sequence_number":${next + 1}}`,
    },
    { data: '[DONE]' },
  ]
}

function finishedItems(messages: readonly SseMessage[]): readonly JsonObject[] {
  const items: JsonObject[] = []
  for (const { data } of messages) {
    const { output_index: at, item } = tryParseJsonObject(data) ?? {}
    if (typeof at === 'number' && isObject(item)) items[at] = item
  }
  return items.filter((item) => item !== undefined)
}
