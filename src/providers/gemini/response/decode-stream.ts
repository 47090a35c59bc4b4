/**
 * A streamed answer, told as events. Every chunk is a whole answer in small; what is in it goes to
 * `createAnswerEventEmitter` part by part. The ending waits for the end of the stream, because the token counts
 * may come in a chunk of their own.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import type { Account, Decoder } from '../../provider-interface.ts'
import { createAnswerEventEmitter, type AnswerEventEmitter } from './answer-event-emitter.ts'
import { findError, parseError } from '../parse-errors.ts'
import { parseFinishReason, type AnswerEnding } from './finish-reason.ts'
import { convertLogprobs } from './logprobs.ts'
import { mapEncodedToolNames } from '../tool-names.ts'
import { parseUsage } from './usage.ts'
import type { GeminiCandidate, GeminiChunk, UsageMetadata } from '../api-types.ts'

export function decodeStream(_account: Account, prompt?: Prompt): Decoder {
  const reading = newReading(prompt)
  return {
    push({ data }) {
      if (data === '' || data === '[DONE]') return NO_OUTPUT
      let chunk: unknown
      try {
        chunk = JSON.parse(data)
      } catch {
        return reading.fail('The upstream sent a chunk that is not JSON.')
      }
      return reading.push(chunk)
    },
    end: reading.end,
  }
}

export function decodeBody(
  body: JsonObject,
  _account: Account,
  prompt?: Prompt,
): readonly StreamEvent[] {
  const reading = newReading(prompt)
  return [...reading.push(body), ...reading.end()]
}

interface Reading {
  readonly push: (chunk: unknown) => readonly StreamEvent[]
  readonly fail: (message: string) => readonly StreamEvent[]
  readonly end: () => readonly StreamEvent[]
}

function newReading(prompt: Prompt | undefined): Reading {
  let events: StreamEvent[] = []
  const answer = createAnswerEventEmitter(
    (event) => events.push(event),
    mapEncodedToolNames(prompt),
  )
  let counted: UsageMetadata | null = null
  let ending: AnswerEnding | null = null
  let over = false

  const taken = (): readonly StreamEvent[] => {
    if (events.length === 0) return NO_OUTPUT
    const ready = events
    events = []
    return ready
  }
  const finish = (how: AnswerEnding): void => {
    over = true
    const usage = counted === null ? null : parseUsage(counted)
    answer.start({})
    answer.close('failure' in how || how.finish !== 'stop')
    events.push(
      'failure' in how
        ? { type: 'answer-failed', failure: how.failure, usage }
        : { type: 'answer-ended', finish: how.finish, usage },
    )
  }
  const read = (chunk: unknown): void => {
    const error = findError(chunk)
    if (error !== null) return finish({ failure: parseError(error, null) })
    if (!isObject(chunk)) return finish(broken('The upstream sent a chunk that is not an object.'))
    answer.start(chunk)
    const { usageMetadata } = chunk as GeminiChunk
    if (typeof usageMetadata?.promptTokenCount === 'number') counted = usageMetadata
    const candidate = candidateIn(chunk)
    const fault = candidate === null ? null : take(candidate, answer)
    if (fault !== null) return finish(broken(fault))
    ending = endingIn(chunk, candidate) ?? ending
  }

  return {
    push(chunk) {
      if (!Array.isArray(chunk)) {
        if (!over) read(chunk)
        return taken()
      }
      for (const each of chunk as readonly unknown[]) if (!over) read(each)
      return taken()
    },
    fail(message) {
      if (!over) finish(broken(message))
      return taken()
    },
    end() {
      if (!over) finish(ending ?? broken('The upstream broke off in the middle of its answer.'))
      return taken()
    },
  }
}

/** Further candidates are not asked for. */
function candidateIn({ candidates }: GeminiChunk): GeminiCandidate | null {
  if (!Array.isArray(candidates)) return null
  for (const candidate of candidates as readonly unknown[]) {
    if (isObject(candidate) && (candidate['index'] ?? 0) === 0) return candidate
  }
  return null
}

/** Returns what is wrong with a part, if anything is. */
function take(candidate: GeminiCandidate, answer: AnswerEventEmitter): string | null {
  const parts: unknown = candidate.content?.parts
  if (Array.isArray(parts)) {
    const logprobs = convertLogprobs(candidate.logprobsResult)
    for (const part of parts as readonly unknown[]) {
      const fault = isObject(part) ? answer.take(part, logprobs) : null
      if (fault !== null) return fault
    }
  }
  if (isObject(candidate.groundingMetadata)) answer.ground(candidate.groundingMetadata)
  return null
}

/** A refused prompt has no candidate. */
function endingIn(
  { promptFeedback }: GeminiChunk,
  candidate: GeminiCandidate | null,
): AnswerEnding | null {
  const reason = candidate?.finishReason
  if (typeof reason === 'string' && reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED') {
    const words = candidate?.finishMessage
    return parseFinishReason(reason, typeof words === 'string' ? words : null)
  }
  return typeof promptFeedback?.blockReason === 'string' ? { finish: 'content-filter' } : null
}

function broken(message: string): { readonly failure: Failure } {
  return { failure: createFailure('upstream_broken', message) }
}
