/**
 * Reads an answer that was not asked for as a stream. Some upstreams stream it all the same, and are
 * understood. Rejects with a GatewayError when it breaks, grows too big, or makes no sense.
 */
import type { StreamEvent } from '../conversation/event.ts'
import { parsedObject, type JsonObject } from '../conversation/json.ts'
import { GatewayError } from '../errors.ts'
import type { Prepared } from './prepare.ts'
import { sseDecoder } from '../stream/sse.ts'
import { runStage } from '../stream/stage.ts'
import { MAX_ANSWER_BYTES, NOT_JSON, readBody } from '../transport/read-body.ts'
import type { Call, Reply } from '../transport/transport.ts'

export interface ReadAnswer {
  readonly events: readonly StreamEvent[]
  /** As it came; `null` for one that was streamed. */
  readonly body: { readonly bytes: Uint8Array; readonly json: JsonObject } | null
}

export async function readAnswer(
  call: Call,
  reply: Reply,
  { provider, account, prompt }: Pick<Prepared, 'provider' | 'account' | 'prompt'>,
): Promise<ReadAnswer> {
  const bytes = await readBody(call, reply, MAX_ANSWER_BYTES)
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
