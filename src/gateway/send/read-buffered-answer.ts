/**
 * Reads an answer to its end that was not asked for as a stream. Some upstreams stream it all the same,
 * and are understood. Rejects with a GatewayError when it breaks, grows too big, or makes no sense.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { parsedObject, type JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { AnswerEvents } from './answer-event-source-interface.ts'
import { sseDecoder } from '../../core/stream/sse.ts'
import { runStage } from '../../core/stream/stage.ts'
import { MAX_ANSWER_BYTES, NOT_JSON, readBody } from '../../upstream/transport/read-body.ts'
import type { Answer } from './upstream-answer-types.ts'
import type { Asked } from './send-with-fallback.ts'

export interface ReadAnswer {
  readonly events: readonly StreamEvent[]
  /** As it came; `null` for one that came in pieces. */
  readonly body: { readonly bytes: Uint8Array; readonly json: JsonObject } | null
}

export async function readAnswer(answer: Answer): Promise<ReadAnswer> {
  return 'events' in answer
    ? { events: await gathered(answer.events), body: null }
    : decodedAtOnce(answer)
}

function gathered({ flow }: AnswerEvents): Promise<readonly StreamEvent[]> {
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

async function decodedAtOnce({ prepared, body }: Asked): Promise<ReadAnswer> {
  const { provider, account, prompt } = prepared
  const bytes = await readBody(body, MAX_ANSWER_BYTES)
  const text = new TextDecoder().decode(bytes)
  const json = parsedObject(text)
  if (json !== null) {
    return { events: provider.decodeWhole(json, account, prompt), body: { bytes, json } }
  }
  if (!BEGINS_STREAM.test(text)) throw new GatewayError(NOT_JSON)
  const messages = runStage(sseDecoder(), [bytes])
  return { events: runStage(provider.decode(account, prompt), messages), body: null }
}

/** An event begins with the name of a field, a comment with the colon alone. */
const BEGINS_STREAM = /^\s*(?:data|event|id|retry)?:/
