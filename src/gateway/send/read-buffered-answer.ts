/**
 * Reads an answer to its end that was not asked for as a stream. Some upstreams stream it all the same,
 * and are understood. Rejects with a GatewayError when it breaks, grows too big, or makes no sense.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { tryParseJsonObject, type JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { AnswerEventSource } from './answer-event-source-interface.ts'
import { createSseDecoder } from '../../core/stream/sse.ts'
import { runStage } from '../../core/stream/stage.ts'
import { MAX_ANSWER_BYTES, NOT_JSON_FAILURE, readBody } from '../../upstream/transport/read-body.ts'
import type { UpstreamAnswer } from './upstream-answer-types.ts'
import type { RawAnswer } from './send-with-fallback.ts'

export interface BufferedAnswer {
  readonly events: readonly StreamEvent[]
  /** As it came; `null` for one that came in pieces. */
  readonly body: { readonly bytes: Uint8Array; readonly json: JsonObject } | null
}

export async function readBufferedAnswer(answer: UpstreamAnswer): Promise<BufferedAnswer> {
  return 'events' in answer
    ? { events: await gathered(answer.events), body: null }
    : decodedAtOnce(answer)
}

function gathered({ flow }: AnswerEventSource): Promise<readonly StreamEvent[]> {
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

async function decodedAtOnce({ prepared, body }: RawAnswer): Promise<BufferedAnswer> {
  const { provider, account, prompt } = prepared
  const bytes = await readBody(body, MAX_ANSWER_BYTES)
  const text = new TextDecoder().decode(bytes)
  const json = tryParseJsonObject(text)
  if (json !== null) {
    return { events: provider.decodeBody(json, account, prompt), body: { bytes, json } }
  }
  if (!BEGINS_STREAM.test(text)) throw new GatewayError(NOT_JSON_FAILURE)
  const messages = runStage(createSseDecoder(), [bytes])
  return { events: runStage(provider.createDecoder(account, prompt), messages), body: null }
}

/** An event begins with the name of a field, a comment with the colon alone. */
const BEGINS_STREAM = /^\s*(?:data|event|id|retry)?:/
