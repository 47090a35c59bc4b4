/**
 * Decodes an upstream's body into the events of its answer, whether it is a stream or one JSON object:
 * some upstreams send one where the other was requested. The first character decides, because content types
 * are often wrong and no server-sent event starts with `{`.
 */
import { type JsonObject, tryParseJsonObject } from '../../core/json/json.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import { concatBytes } from '../../core/stream/concat-bytes.ts'
import { createSseDecoder } from '../../core/stream/sse.ts'
import { NO_OUTPUT, type Stage, type SseMessage } from '../../core/stream/stage.ts'
import type { Prompt } from '../../core/prompt.ts'
import type { Account, Provider } from '../../providers/provider-interface.ts'
import {
  createBodyTooLargeError,
  MAX_ANSWER_BYTES,
  NOT_JSON_FAILURE,
} from '../../upstream/transport/read-body.ts'

interface SentRequest {
  readonly provider: Provider
  readonly account: Account
  readonly prompt: Prompt
}

/** `push` throws a GatewayError for a body that is too large or not valid server-sent events. */
export function decodeAnswerBody(sent: SentRequest): Stage<Uint8Array, StreamEvent> {
  let decoder: Stage<Uint8Array, StreamEvent> | null = null
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

function createStreamDecoder({
  provider,
  account,
  prompt,
}: SentRequest): Stage<Uint8Array, StreamEvent> {
  const sse = createSseDecoder()
  const decoder = provider.createDecoder(account, prompt)
  const decode = (messages: readonly SseMessage[]): readonly StreamEvent[] => {
    const [first] = messages
    // Most chunks hold one message, whose events are returned without copying the list.
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
    // After an unreadable event, the rest of the body is ignored.
    end: () => (isReadable ? [...decode(sse.end()), ...decoder.end()] : decoder.end()),
  }
}

function createJsonDecoder({
  provider,
  account,
  prompt,
}: SentRequest): Stage<Uint8Array, StreamEvent> {
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
      const json: JsonObject | null = tryParseJsonObject(
        new TextDecoder().decode(concatBytes(chunks)),
      )
      return json === null ? NOT_JSON_EVENTS : provider.decodeBody(json, account, prompt)
    },
  }
}

const NOT_JSON_EVENTS: readonly StreamEvent[] = [
  { type: 'answer-started', upstreamId: null, model: null },
  { type: 'answer-failed', failure: NOT_JSON_FAILURE },
]

/** Returns null if the chunk is only white space, so that the next chunk decides. */
export function startsWithJsonObject(chunk: Uint8Array): boolean | null {
  for (const byte of chunk) if (!SKIPPED_BYTES.has(byte)) return byte === OPENING_BRACE
  return null
}

const OPENING_BRACE = 123

/** White space, and the byte order mark of UTF-8. */
const SKIPPED_BYTES: ReadonlySet<number> = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf])
