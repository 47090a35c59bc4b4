/**
 * Decodes an upstream's body into the events of the answer. The body is a stream or one JSON object,
 * because some upstreams send JSON although a stream was requested. It is JSON if its first character is
 * `{`. Content types are not used, because they are often wrong.
 */
import { tryParseJsonObject } from '../../core/json/json.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import { createSseDecoder, type SseMessage } from '../../core/stream/sse.ts'
import { NO_OUTPUT, type StreamStage } from '../../core/stream/stream-stage.ts'
import {
  createBodyTooLargeError,
  MAX_ANSWER_BYTES,
  NOT_JSON_FAILURE,
} from '../../upstream/transport/read-complete-reply.ts'
import {
  createAnswerDecoder,
  decodeAnswerJson,
  type SentRequest,
} from './decode-upstream-answer.ts'

/** Returns the decoder. Its `push` throws a GatewayError if the body is too large or has invalid SSE events. */
export function decodeAnswerBody(sent: SentRequest): StreamStage<Uint8Array, StreamEvent> {
  let decoder: StreamStage<Uint8Array, StreamEvent> | null = null
  return {
    push(chunk) {
      if (decoder === null) {
        const isObject = startsWithJsonObject(chunk)
        if (isObject === null) return NO_OUTPUT
        decoder = isObject ? createJsonDecoder(sent) : createStreamDecoder(sent)
      }
      return decoder.push(chunk)
    },
    end: () => (decoder ?? createStreamDecoder(sent)).end(),
  }
}

function createStreamDecoder(sent: SentRequest): StreamStage<Uint8Array, StreamEvent> {
  const sse = createSseDecoder()
  const decoder = createAnswerDecoder(sent)
  const decode = (messages: readonly SseMessage[]): readonly StreamEvent[] => {
    const [first] = messages
    // Most chunks contain a single message. Its events are returned without being copied.
    if (first !== undefined && messages.length === 1) return decoder.push(first)
    return messages.flatMap((message) => decoder.push(message))
  }
  let isReadable = true
  return {
    push(chunk) {
      isReadable = false
      const events = decode(sse.push(chunk))
      isReadable = true
      return events
    },
    // After an unreadable event, the rest of the buffered bytes is ignored.
    end: () => (isReadable ? [...decode(sse.end()), ...decoder.end()] : decoder.end()),
  }
}

function createJsonDecoder(sent: SentRequest): StreamStage<Uint8Array, StreamEvent> {
  const chunks: Uint8Array[] = []
  let size = 0
  return {
    push(chunk) {
      chunks.push(chunk)
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) throw createBodyTooLargeError(MAX_ANSWER_BYTES)
      return NO_OUTPUT
    },
    end() {
      const json = tryParseJsonObject(new TextDecoder().decode(concatBytes(chunks)))
      return json === null ? NOT_JSON_EVENTS : decodeAnswerJson(json, sent)
    },
  }
}

const NOT_JSON_EVENTS: readonly StreamEvent[] = [
  { type: 'answer-started', upstreamId: null, model: null },
  { type: 'answer-failed', failure: NOT_JSON_FAILURE },
]

/**
 * True if the body starts with `{`. Null if the chunk is only white space, so that the next chunk decides.
 */
export function startsWithJsonObject(chunk: Uint8Array): boolean | null {
  for (const byte of chunk) if (!SKIPPED_BYTES.has(byte)) return byte === OPENING_BRACE
  return null
}

const OPENING_BRACE = 123

/** Byte values of white space and of the UTF-8 byte order mark, which may come before the first character. */
const SKIPPED_BYTES: ReadonlySet<number> = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf])
