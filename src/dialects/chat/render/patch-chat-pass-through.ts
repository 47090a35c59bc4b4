/**
 * Patches a chat answer that is passed through, that is, forwarded as the upstream sent it. Inserts
 * the gateway's id, and removes fields with which a hostile upstream could attack Open WebUI: for
 * example, Open WebUI runs scripts from the field `event`.
 *
 * Most messages are patched without parsing them: only the text of the id is replaced. A message is
 * parsed until the upstream's id is known, and if it may contain a hostile field. Text of the model
 * is not mistaken for a field, because its quotes are escaped in JSON.
 */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { patchObject } from '../../../core/json/patch-object.ts'
import type { AnswerContext, PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import { isDoneMarker } from '../../../core/stream/sse.ts'
import type { TextDeltaMessagePattern } from '../../../core/stream/text-delta-message-pattern.ts'
import { completionId } from '../../../core/turn-derived-ids.ts'
import { createCachingMessageParser, WITHOUT_HOSTILE_FIELDS } from '../../pass-through-json.ts'
import { fillStreamToolCallIds, fillAnswerToolCallIds } from './fill-tool-call-ids.ts'
import { renderStreamError } from './render-stream-error.ts'

export function createChatPassThroughPatcher(answerContext: AnswerContext): PassThroughPatcher {
  const { isStored, needsGatewayId, turnId } = answerContext
  /** The gateway's id; `null` for an answer that cannot be read again, which keeps the upstream's id. */
  const id = isStored || needsGatewayId === true ? completionId(turnId) : null
  const parse = createCachingMessageParser()
  /** The replacements of the upstream's id; empty until a message has contained that id. */
  let knownReplacements: readonly IdReplacement[] = []
  let hasEnding = false

  return {
    addMissingCallIds: fillStreamToolCallIds,
    patchMessage(message) {
      if (isDoneMarker(message)) return message
      if (!MAY_BE_HOSTILE.test(message.data)) {
        if (id === null) return message
        const data = replaceId(message.data, knownReplacements)
        if (data !== null) return { ...message, data }
      }
      const json = parse(message)
      if (json === null) return message
      const { id: upstreamId } = json
      const patchParsed = () => ({ ...message, data: JSON.stringify(patchJson(json, id)) })
      if (isHostile(json)) return patchParsed()
      if (id === null || typeof upstreamId !== 'string') return message
      // An empty id is replaced only in a chunk without choices, because in other chunks the first
      // `"id":""` may belong to a tool call.
      const hasNoChoices = Array.isArray(json['choices']) && json['choices'].length === 0
      if (upstreamId === '' && !hasNoChoices) return message
      const replacements = listIdReplacements(upstreamId, id)
      if (upstreamId !== '') knownReplacements = replacements
      const data = replaceId(message.data, replacements)
      return data === null ? patchParsed() : { ...message, data }
    },
    textDeltaPattern: PLAIN_TEXT_DELTA,
    startsEnding(message) {
      hasEnding ||=
        isDoneMarker(message) || (MAY_BE_ENDING.test(message.data) && isEnding(parse(message)))
      return hasEnding
    },
    patchBody(upstreamBody, outcome) {
      const body = fillAnswerToolCallIds(upstreamBody, outcome?.items ?? [])
      return patchJson(body, Array.isArray(body['choices']) || isHostile(body) ? id : null)
    },
    renderFailure: renderStreamError,
  }
}

interface IdReplacement {
  readonly from: string
  readonly to: string
}

/**
 * Returns two replacements for an id: of `"id":"chatcmpl-1"`, and of the same text with a space
 * after the colon. Services write either form.
 */
function listIdReplacements(upstreamId: string, id: string): readonly IdReplacement[] {
  return ['', ' '].map((space) => ({
    from: `"id":${space}${JSON.stringify(upstreamId)}`,
    to: `"id":${space}${JSON.stringify(id)}`,
  }))
}

/** Applies the first replacement whose text occurs in `data`; returns `null` if none does. */
function replaceId(data: string, replacements: readonly IdReplacement[]): string | null {
  for (const { from, to } of replacements) {
    const start = data.indexOf(from)
    if (start >= 0) return data.slice(0, start) + to + data.slice(start + from.length)
  }
  return null
}

/**
 * Matches messages that may contain a hostile field. An escaped character (`\u00…`) also matches,
 * because it could hide a letter of the field's name. (One expression is several times faster than
 * a search for each name, and this one cannot backtrack.)
 */
const MAY_BE_HOSTILE = /"(?:event|selected_model_id|sources)"|"response\.|\\u00/
const MAY_BE_ENDING = /"finish_reason": ?"|"error"/

/**
 * Matches a message with one delta that contains only text. All other messages are parsed: those
 * with further fields in the delta, with logprobs or several choices, and those that may be
 * hostile.
 */
const PLAIN_TEXT_DELTA: TextDeltaMessagePattern = {
  before:
    /^\{.*?"delta": ?\{(?:"role": ?"assistant", ?|"\w+": ?(?:null|""|\[\]), ?)*"(?:content|reasoning_content|reasoning)": ?"/s,
  after: /^"(?:, ?"role": ?"assistant"|, ?"\w+": ?(?:null|""|\[\]))*\}/,
  excludedPatterns: [
    MAY_BE_HOSTILE,
    /"logprobs"\s*:\s*\{|"(?:delta|message)".*"(?:delta|message)"/s,
  ],
}

/**
 * True for an event of the Responses API. Open WebUI accepts such events in any stream, and would
 * run a tool call in them.
 */
function isResponsesEvent({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('response.')
}

function isHostile(json: JsonObject): boolean {
  return patchJson(json, null) !== json
}

/**
 * Sets the id unless it is `null`. Removes the fields with which an upstream could attack Open WebUI
 * (e.g. `event`), and the `type` of a Responses event.
 */
function patchJson(json: JsonObject, id: string | null): JsonObject {
  return patchObject(json, {
    ...WITHOUT_HOSTILE_FIELDS,
    ...(isResponsesEvent(json) ? { type: undefined } : {}),
    ...(id !== null && typeof json['id'] === 'string' ? { id } : {}),
  })
}

/**
 * True if a message contains an error or the finish reason of the first choice. (The gateway
 * records only the first choice.)
 */
function isEnding(json: JsonObject | null): boolean {
  if (json === null) return false
  if (json['error']) return true
  const { choices } = json
  if (!Array.isArray(choices)) return false
  return (choices as readonly Json[]).some(
    (choice) =>
      isObject(choice) &&
      (choice['index'] ?? 0) === 0 &&
      typeof choice['finish_reason'] === 'string' &&
      choice['finish_reason'] !== '',
  )
}
