/**
 * Decodes an answer into events. Each chunk has the format of a complete answer, and its parts are
 * passed to `createAnswerEventEmitter` one by one. The terminal event is emitted at the end of the
 * stream, because a last chunk may contain the token counts.
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
import { encodeToolName } from '../tool-names.ts'
import { mapEncodedToolNames } from '../../response/map-encoded-tool-names.ts'
import { parseUsage } from './usage.ts'
import type { GeminiCandidate, GeminiChunk, UsageMetadata } from '../api-types.ts'

export function decodeStream(_account: Account, prompt?: Prompt): Decoder {
  const reader = createChunkReader(prompt)
  return {
    push({ data }) {
      if (data === '' || data === '[DONE]') return NO_OUTPUT
      let chunk: unknown
      try {
        chunk = JSON.parse(data)
      } catch {
        return reader.fail('The upstream sent a chunk that is not JSON.')
      }
      return reader.push(chunk)
    },
    end: reader.end,
  }
}

export function decodeBody(
  body: JsonObject,
  _account: Account,
  prompt?: Prompt,
): readonly StreamEvent[] {
  const reader = createChunkReader(prompt)
  return [...reader.push(body), ...reader.end()]
}

interface ChunkReader {
  readonly push: (chunk: unknown) => readonly StreamEvent[]
  readonly fail: (message: string) => readonly StreamEvent[]
  readonly end: () => readonly StreamEvent[]
}

function createChunkReader(prompt: Prompt | undefined): ChunkReader {
  let events: StreamEvent[] = []
  const answer = createAnswerEventEmitter(
    (event) => events.push(event),
    mapEncodedToolNames(prompt, encodeToolName),
  )
  let lastUsage: UsageMetadata | null = null
  let ending: AnswerEnding | null = null
  let isOver = false

  const takeEvents = (): readonly StreamEvent[] => {
    if (events.length === 0) return NO_OUTPUT
    const ready = events
    events = []
    return ready
  }
  const finish = (result: AnswerEnding): void => {
    isOver = true
    const usage = lastUsage === null ? null : parseUsage(lastUsage)
    answer.start({})
    answer.close('failure' in result || result.finish !== 'stop')
    events.push(
      'failure' in result
        ? { type: 'answer-failed', failure: result.failure, usage }
        : { type: 'answer-ended', finish: result.finish, usage },
    )
  }
  const readChunk = (chunk: unknown): void => {
    const error = findError(chunk)
    if (error !== null) return finish({ failure: parseError(error, null) })
    if (!isObject(chunk))
      return finish(createBrokenEnding('The upstream sent a chunk that is not an object.'))
    answer.start(chunk)
    const { usageMetadata } = chunk as GeminiChunk
    if (typeof usageMetadata?.promptTokenCount === 'number') lastUsage = usageMetadata
    const candidate = findCandidate(chunk)
    const problem = candidate === null ? null : addCandidate(candidate, answer)
    if (problem !== null) return finish(createBrokenEnding(problem))
    ending = findEnding(chunk, candidate) ?? ending
  }

  return {
    push(chunk) {
      if (!Array.isArray(chunk)) {
        if (!isOver) readChunk(chunk)
        return takeEvents()
      }
      for (const each of chunk as readonly unknown[]) if (!isOver) readChunk(each)
      return takeEvents()
    },
    fail(message) {
      if (!isOver) finish(createBrokenEnding(message))
      return takeEvents()
    },
    end() {
      if (!isOver)
        finish(ending ?? createBrokenEnding('The upstream broke off in the middle of its answer.'))
      return takeEvents()
    },
  }
}

/** Returns the first candidate of an answer; requests ask for one only. */
function findCandidate({ candidates }: GeminiChunk): GeminiCandidate | null {
  if (!Array.isArray(candidates)) return null
  for (const candidate of candidates as readonly unknown[]) {
    if (isObject(candidate) && (candidate['index'] ?? 0) === 0) return candidate
  }
  return null
}

/**
 * Adds the parts of a candidate. Returns an error message if a part is invalid, otherwise `null`.
 */
function addCandidate(candidate: GeminiCandidate, answer: AnswerEventEmitter): string | null {
  const parts: unknown = candidate.content?.parts
  if (Array.isArray(parts)) {
    const logprobs = convertLogprobs(candidate.logprobsResult)
    for (const part of parts as readonly unknown[]) {
      const error = isObject(part) ? answer.addPart(part, logprobs) : null
      if (error !== null) return error
    }
  }
  if (isObject(candidate.groundingMetadata)) answer.setGrounding(candidate.groundingMetadata)
  return null
}

/**
 * Returns how the answer ends, if the chunk shows it. If the prompt is blocked, there is no
 * candidate, and `promptFeedback` shows it.
 */
function findEnding(
  { promptFeedback }: GeminiChunk,
  candidate: GeminiCandidate | null,
): AnswerEnding | null {
  const reason = candidate?.finishReason
  if (typeof reason === 'string' && reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED') {
    const message = candidate?.finishMessage
    return parseFinishReason(reason, typeof message === 'string' ? message : null)
  }
  return typeof promptFeedback?.blockReason === 'string' ? { finish: 'content-filter' } : null
}

function createBrokenEnding(message: string): { readonly failure: Failure } {
  return { failure: createFailure('upstream_broken', message) }
}
