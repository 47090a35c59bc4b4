/**
 * Reads a non-streamed answer to its end. Also decodes streams, because some upstreams stream an answer
 * although that was not requested. Rejects with a GatewayError if the body breaks off, is too large, or is
 * unreadable.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { tryParseJsonObject, type JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import { createSseDecoder } from '../../core/stream/sse.ts'
import { runStage } from '../../core/stream/stream-stage.ts'
import {
  MAX_ANSWER_BYTES,
  NOT_JSON_FAILURE,
  readBody,
} from '../../upstream/transport/read-complete-reply.ts'
import { createAnswerDecoder, decodeAnswerJson } from './decode-upstream-answer.ts'
import type { UpstreamAnswer } from './upstream-answer-types.ts'
import type { RawAnswer } from './send-with-fallback.ts'

export interface BufferedAnswer {
  readonly events: readonly StreamEvent[]
  /**
   * The JSON body as it was received; null if the answer was not one JSON body, e.g. a stream or tool
   * rounds.
   */
  readonly jsonBody: { readonly bytes: Uint8Array; readonly json: JsonObject } | null
}

export async function readBufferedAnswer(answer: UpstreamAnswer): Promise<BufferedAnswer> {
  return 'events' in answer
    ? { events: await collectEvents(answer.events), jsonBody: null }
    : decodeCompleteBody(answer)
}

function collectEvents({ flow }: AnswerEventSource): Promise<readonly StreamEvent[]> {
  return new Promise((resolve, reject) => {
    const all: StreamEvent[] = []
    flow({
      chunk(events) {
        for (const event of events) all.push(event)
      },
      end: () => resolve(all),
      failed: (failure) => reject(new GatewayError(failure)),
    })
  })
}

async function decodeCompleteBody({ prepared, body }: RawAnswer): Promise<BufferedAnswer> {
  const bytes = await readBody(body, MAX_ANSWER_BYTES)
  const text = new TextDecoder().decode(bytes)
  const json = tryParseJsonObject(text)
  if (json !== null) {
    return { events: decodeAnswerJson(json, prepared), jsonBody: { bytes, json } }
  }
  if (!SSE_START.test(text)) throw new GatewayError(NOT_JSON_FAILURE)
  const messages = runStage(createSseDecoder(), [bytes])
  return { events: runStage(createAnswerDecoder(prepared), messages), jsonBody: null }
}

/** Matches a body of server-sent events. It starts with a field such as `data:`, or with a comment (`: …`). */
const SSE_START = /^\s*(?:data|event|id|retry)?:/
