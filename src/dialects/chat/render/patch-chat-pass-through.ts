/**
 * Mends the answer of an upstream that speaks chat itself: our id in place of its own, and none of
 * the fields by which a hostile upstream could reach into Open WebUI, which runs scripts out of
 * `event`. In the text of a message quotes are escaped, so that a look at it tells nearly always
 * that there is nothing to mend; only otherwise it is parsed.
 */
import { completionId } from '../../../core/turn-derived-ids.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  tryParseJsonObject,
} from '../../../core/json/json.ts'
import { isDoneMarker, type SseMessage, type TextDeltaPattern } from '../../../core/stream/stage.ts'
import type { AnswerContext, PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import { renderStreamError } from './render-stream-error.ts'
import { fillStreamToolCallIds, fillBodyToolCallIds } from './insert-recorded-call-ids.ts'

export function createChatPassThroughPatcher(answering: AnswerContext): PassThroughPatcher {
  /** An answer that is not kept has no id of ours. */
  const id = answering.stored ? completionId(answering.turnId) : null
  const parse = lastParsed()
  /** How the upstream's id is written, and how ours is in the same place. */
  let known: readonly Spelling[] = []
  let isOver = false

  return {
    addMissingCallIds: fillStreamToolCallIds,
    patchMessage(message) {
      const { data } = message
      if (isDoneMarker(message)) return message
      if (!MAY_BE_HOSTILE.test(data)) {
        if (id === null) return message
        for (const spelling of known) {
          const at = data.indexOf(spelling.theirs)
          if (at >= 0) return withData(message, replaced(data, at, spelling))
        }
      }
      const json = parse(message)
      if (json === null) return message
      const { id: theirs } = json
      if (isHostile(json)) return withData(message, JSON.stringify(mended(json, id)))
      if (id === null) return message
      if (typeof theirs !== 'string' || (theirs === '' && !isEmptyList(json['choices']))) {
        return message
      }
      const spellings = spellingsOf(theirs, id)
      if (theirs !== '') known = spellings
      for (const spelling of spellings) {
        const at = data.indexOf(spelling.theirs)
        if (at >= 0) return withData(message, replaced(data, at, spelling))
      }
      return withData(message, JSON.stringify(mended(json, id)))
    },
    textDeltaPattern: WORDS_ALONE,
    startsEnding(message) {
      isOver ||= isDoneMarker(message) || (MAY_END.test(message.data) && ends(parse(message)))
      return isOver
    },
    patchBody(given, outcome) {
      const body = fillBodyToolCallIds(given, outcome?.items ?? [])
      const isOurs = id !== null && Array.isArray(body['choices'])
      return isOurs || isHostile(body) ? mended(body, id) : body
    },
    renderFailure: renderStreamError,
  }
}

interface Spelling {
  readonly theirs: string
  readonly ours: string
}

/** Services write JSON without spaces or with one behind the colon. */
function spellingsOf(theirs: string, ours: string): readonly Spelling[] {
  return ['', ' '].map((space) => ({
    theirs: `"id":${space}${JSON.stringify(theirs)}`,
    ours: `"id":${space}${JSON.stringify(ours)}`,
  }))
}

function replaced(data: string, at: number, { theirs, ours }: Spelling): string {
  return data.slice(0, at) + ours + data.slice(at + theirs.length)
}

function withData(message: SseMessage, data: string): SseMessage {
  return { ...message, data }
}

const HOSTILE = ['event', 'selected_model_id', 'sources'] as const

/**
 * An escaped letter could hide a name from the look at the text. (One expression is several times
 * faster than a search for each word, and none of these can run back over the text.)
 */
const MAY_BE_HOSTILE = /"(?:event|selected_model_id|sources)"|"response\.|\\u00/
const MAY_END = /"finish_reason": ?"|"error"/

/**
 * In the only delta, which says nothing else: other fields of it, tokens and other choices would be
 * counted each time. What may be hostile is looked at one by one.
 */
const WORDS_ALONE: TextDeltaPattern = {
  before:
    /^\{.*?"delta": ?\{(?:"role": ?"assistant", ?|"\w+": ?(?:null|""|\[\]), ?)*"(?:content|reasoning_content|reasoning)": ?"/s,
  after: /^"(?:, ?"role": ?"assistant"|, ?"\w+": ?(?:null|""|\[\]))*\}/,
  unchangedFields: [
    MAY_BE_HOSTILE,
    /"logprobs"\s*:\s*\{|"(?:delta|message)".*"(?:delta|message)"/s,
  ],
}

function isHostile(json: JsonObject): boolean {
  return HOSTILE.some((name) => json[name] !== undefined) || isResponsesEvent(json)
}

/** Open WebUI takes these in any stream, and a call among them would be run. */
function isResponsesEvent({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('response.')
}

function mended(json: JsonObject, id: string | null): JsonObject {
  const isForeign = isResponsesEvent(json)
  const entries = Object.entries(json).filter(
    ([name]) => !HOSTILE.some((hostile) => hostile === name) && !(isForeign && name === 'type'),
  )
  const rest = Object.fromEntries(entries)
  return id !== null && typeof json['id'] === 'string' ? { ...rest, id } : rest
}

/** The first choice is over, or all is: with several choices the others are still to come. */
function ends(json: JsonObject | null): boolean {
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

/** One message is looked at from two sides; it is parsed once. */
function lastParsed(): (message: SseMessage) => JsonObject | null {
  let last: SseMessage | null = null
  let json: JsonObject | null = null
  return (message) => {
    if (message !== last) {
      last = message
      json = tryParseJsonObject(message.data)
    }
    return json
  }
}
