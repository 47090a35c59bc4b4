/**
 * Patches the answer of an upstream with the Chat Completions API that is passed through: inserts
 * the gateway's id, and removes fields with which a hostile upstream could attack Open WebUI, which
 * runs scripts from the field `event`. A message is parsed only if its text may contain such a
 * field. Text of the model is not mistaken for a field, because its quotes are escaped in JSON.
 */
import { completionId } from '../../../core/turn-derived-ids.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { isDoneMarker, type TextDeltaPattern } from '../../../core/stream/stage.ts'
import type { AnswerContext, PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import { createMessageParser, HOSTILE_FIELDS } from '../../pass-through-json.ts'
import { renderStreamError } from './render-stream-error.ts'
import { fillStreamToolCallIds, fillBodyToolCallIds } from './insert-recorded-call-ids.ts'

export function createChatPassThroughPatcher(answerContext: AnswerContext): PassThroughPatcher {
  /** The gateway's id; `null` for an answer that is not stored, which keeps the upstream's id. */
  const id = answerContext.isStored ? completionId(answerContext.turnId) : null
  const parse = createMessageParser()
  /** The upstream's id as JSON, and the JSON that replaces it. */
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
      if (id === null) return message
      if (typeof upstreamId !== 'string' || (upstreamId === '' && !isEmptyList(json['choices']))) {
        return message
      }
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
      const body = fillBodyToolCallIds(upstreamBody, outcome?.items ?? [])
      const needsId = id !== null && Array.isArray(body['choices'])
      return needsId || isHostile(body) ? patchJson(body, id) : body
    },
    renderFailure: renderStreamError,
  }
}

interface IdReplacement {
  readonly from: string
  readonly to: string
}

/**
 * Lists the texts to replace: services write JSON without spaces, or with one space after the
 * colon.
 */
function listIdReplacements(upstreamId: string, id: string): readonly IdReplacement[] {
  return ['', ' '].map((space) => ({
    from: `"id":${space}${JSON.stringify(upstreamId)}`,
    to: `"id":${space}${JSON.stringify(id)}`,
  }))
}

/** Replaces the id in `data`; returns `null` if `data` contains none of the texts. */
function replaceId(data: string, replacements: readonly IdReplacement[]): string | null {
  for (const { from, to } of replacements) {
    const start = data.indexOf(from)
    if (start >= 0) return data.slice(0, start) + to + data.slice(start + from.length)
  }
  return null
}

/**
 * Matches messages that may contain a hostile field. `\u00` matches as well, because an escaped
 * letter could hide the name of a field. (One expression is several times faster than a search for
 * each name, and this one cannot backtrack.)
 */
const MAY_BE_HOSTILE = /"(?:event|selected_model_id|sources)"|"response\.|\\u00/
const MAY_BE_ENDING = /"finish_reason": ?"|"error"/

/**
 * Matches a message with one delta that contains only text. Other messages are parsed one by one:
 * those with further fields in the delta, with logprobs or several choices, and those that may be
 * hostile.
 */
const PLAIN_TEXT_DELTA: TextDeltaPattern = {
  before:
    /^\{.*?"delta": ?\{(?:"role": ?"assistant", ?|"\w+": ?(?:null|""|\[\]), ?)*"(?:content|reasoning_content|reasoning)": ?"/s,
  after: /^"(?:, ?"role": ?"assistant"|, ?"\w+": ?(?:null|""|\[\]))*\}/,
  excludedPatterns: [
    MAY_BE_HOSTILE,
    /"logprobs"\s*:\s*\{|"(?:delta|message)".*"(?:delta|message)"/s,
  ],
}

function isHostile(json: JsonObject): boolean {
  return HOSTILE_FIELDS.some((name) => json[name] !== undefined) || isResponsesEvent(json)
}

/**
 * True for an event of the Responses API. Open WebUI accepts such events in any stream, and would
 * run a tool call in them.
 */
function isResponsesEvent({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('response.')
}

function patchJson(json: JsonObject, id: string | null): JsonObject {
  const dropsType = isResponsesEvent(json)
  const entries = Object.entries(json).filter(
    ([name]) =>
      !HOSTILE_FIELDS.some((hostile) => hostile === name) && !(dropsType && name === 'type'),
  )
  const rest = Object.fromEntries(entries)
  return id !== null && typeof json['id'] === 'string' ? { ...rest, id } : rest
}

/**
 * True for an error, and for a finish reason of the first choice, the only choice that is recorded.
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

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}
