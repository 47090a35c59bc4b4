/**
 * Streams an upstream's answer to the client. Exactly one of three endings runs, once: the answer finishes, the
 * upstream breaks off, or the client disconnects. If not even the failure can be rendered, the connection is
 * aborted.
 *
 * Text is passed on without waiting, except for two cases: a full client pauses the upstream, and the last events
 * wait until the turn is stored. A writer that delays text itself (`markers/delay-first-text.ts`) sends it later.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { ClientStream } from '../http-exchange-interface.ts'
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { PushSource } from '../../core/stream/push-source.ts'
import type { ResponseWriter } from './response-writer-interface.ts'

export interface AnswerStreamParts<Chunk> {
  readonly source: PushSource<Chunk>
  readonly writer: ResponseWriter<Chunk>
  readonly client: ClientStream
  /** Stores the turn. Resolves to the outcome to render, which may be a failure to store. */
  readonly settle: (outcome: Outcome, ending: 'finished' | 'cancelled') => Promise<Outcome>
  readonly heartbeatMs: number
  readonly log: Log
}

const DISCONNECTED = createFailure('upstream_broken', 'The client went away.')

export function streamAnswerToClient<Chunk>(parts: AnswerStreamParts<Chunk>): void {
  const { source, writer, client, settle, heartbeatMs, log } = parts
  let isOver = false
  const { send, stop: stopHeartbeat } = createHeartbeat(client, heartbeatMs)

  const finish = (failure: Failure | null): void => {
    if (isOver) return
    isOver = true
    void writeEnding(failure).catch(breakOff).finally(stopHeartbeat)
  }
  const writeEnding = async (failure: Failure | null): Promise<void> => {
    const text = closeWriter(failure)
    const outcome = writer.outcome()
    if (text instanceof GatewayError) {
      await settle({ ...outcome, finish: null, failure: text.failure }, 'finished')
      return client.abort()
    }
    send(text)
    const settled = await settle(outcome, 'finished')
    client.end(writer.end(settled))
  }
  /** Returns the text before the ending, or the error if the writer cannot render it. */
  const closeWriter = (failure: Failure | null): string | GatewayError => {
    try {
      return writer.close(failure)
    } catch (error) {
      return convertUnexpectedError(error, log)
    }
  }
  const breakOff = (error: unknown): void => {
    convertUnexpectedError(error, log)
    client.abort()
  }

  const cancel = (): void => {
    if (isOver) return
    isOver = true
    stopHeartbeat()
    source.cancel()
    // Closes the open items, so that the partial answer is stored.
    closeWriter(DISCONNECTED)
    settle({ ...writer.outcome(), failure: null }, 'cancelled').catch(breakOff)
  }

  const fail = (error: unknown): void => {
    // Finish before cancelling: cancelling first would report a broken connection.
    finish(convertUnexpectedError(error, log).failure)
    source.cancel()
  }

  const flow = source.flow({
    chunk(chunk) {
      if (isOver) return
      try {
        if (!send(writer.push(chunk))) flow.pause()
        if (!writer.isOver()) return
        finish(null)
        if (writer.isCutShort()) source.cancel()
      } catch (error) {
        fail(error)
      }
    },
    end: () => finish(null),
    // After a disconnect, the failure of the cancelled upstream can arrive before `onDisconnect` is called.
    failed: (failure) => (client.isDisconnected() ? cancel() : finish(failure)),
  })
  writer.onReady?.((text) => {
    if (client.isDisconnected()) return
    try {
      if (!send(text()) && !isOver) flow.pause()
    } catch (error) {
      fail(error)
    }
  })
  client.onDisconnect(cancel)
  client.onDrain(flow.resume)
}

/** Writes an SSE comment, `: ping`, if nothing was sent for one interval. */
function createHeartbeat(client: ClientStream, heartbeatMs: number) {
  let isQuiet = true
  const timer = setInterval(() => {
    if (isQuiet) client.write(': ping\n\n')
    isQuiet = true
  }, heartbeatMs)
  const send = (text: string | Uint8Array): boolean => {
    if (text.length === 0) return true
    isQuiet = false
    return client.write(text)
  }
  return { send, stop: () => clearInterval(timer) }
}
