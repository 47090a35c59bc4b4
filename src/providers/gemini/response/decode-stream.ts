/**
 * Decodes a Gemini answer, streamed or not, into events. Both forms have one decoder, because a
 * chunk of a stream has the format of a complete answer. Emits the terminal event at the end of the
 * stream, because token counts may come after the finish reason.
 */
import { createFailure } from '../../../core/errors/gateway-error.ts'
import { isObject, type JsonObject, type Json } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import type { Account, Decoder } from '../../provider-interface.ts'
import { mapEncodedToolNames } from '../../response/map-encoded-tool-names.ts'
import type {
  GeminiCandidate,
  GeminiChunk,
  UsageMetadata,
  LogprobsResult,
  GeminiLogprob,
} from '../api-types.ts'
import { findError, parseError } from '../parse-errors.ts'
import { encodeToolName } from '../encode-tool-name.ts'
import { createGeminiPartsDecoder, type GeminiPartsDecoder } from './gemini-parts-decoder.ts'
import { type AnswerEnding, parseUsage, decideAnswerEnd } from './decide-answer-end.ts'
import { createEventBuffer } from '../../response/event-buffer.ts'

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
  const { emit, takeEvents } = createEventBuffer()
  const answer = createGeminiPartsDecoder(emit, mapEncodedToolNames(prompt, encodeToolName))
  let lastUsage: UsageMetadata | null = null
  let ending: AnswerEnding | null = null
  let isOver = false

  const finish = (result: AnswerEnding): void => {
    isOver = true
    const usage = lastUsage === null ? null : parseUsage(lastUsage)
    answer.start({})
    answer.end('finish' in result && result.finish === 'stop')
    emit(
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
    ending = decideAnswerEnd(chunk, candidate) ?? ending
  }

  return {
    push(chunk) {
      const chunks: readonly unknown[] = Array.isArray(chunk) ? chunk : [chunk]
      for (const each of chunks) if (!isOver) readChunk(each)
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

/** Returns the first candidate of an answer; requests never ask for more than one. */
function findCandidate({ candidates }: GeminiChunk): GeminiCandidate | null {
  if (!Array.isArray(candidates)) return null
  for (const candidate of candidates as readonly unknown[]) {
    if (isObject(candidate) && (candidate['index'] ?? 0) === 0) return candidate
  }
  return null
}

/**
 * Adds the parts of a candidate to the answer. Returns an error message if a part is invalid,
 * otherwise `null`.
 */
function addCandidate(candidate: GeminiCandidate, answer: GeminiPartsDecoder): string | null {
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

function createBrokenEnding(message: string): { readonly failure: Failure } {
  return { failure: createFailure('upstream_broken', message) }
}

/** Converts the log probabilities of a chunk to OpenAI's format; returns `null` if it has none. */
export function convertLogprobs(result: LogprobsResult | undefined): readonly Json[] | null {
  const chosen = result?.chosenCandidates
  if (!Array.isArray(chosen) || chosen.length === 0) return null
  return (chosen as readonly GeminiLogprob[]).map((token, at) => {
    const top = result?.topCandidates?.[at]?.candidates
    return {
      ...convertLogprob(token),
      top_logprobs: Array.isArray(top) ? top.map(convertLogprob) : [],
    }
  })
}

function convertLogprob({ token = '', logProbability = 0 }: GeminiLogprob): {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
} {
  return { token, logprob: logProbability, bytes: [...new TextEncoder().encode(token)] }
}
