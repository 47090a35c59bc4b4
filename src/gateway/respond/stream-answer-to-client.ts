/**
 * Streams an upstream's answer to the client. The stream has exactly one of three endings: the answer
 * finishes, the upstream breaks off, or the client disconnects. If a failure cannot be rendered, the
 * connection is aborted.
 *
 * Text is sent immediately, with two exceptions: a client with a full buffer pauses the upstream, and the
 * last events wait until the turn is stored. A writer may also delay the first text itself
 * (`markers/delay-first-text.ts`).
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { ClientStream, HttpExchange } from '../http-exchange-interface.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { PushSource } from '../../core/stream/push-source-interface.ts'
import { createHeartbeat } from './create-heartbeat.ts'
import type { ResponseWriter } from './response-writer-interface.ts'

export interface AnswerStreamParts<Chunk> {
  readonly source: PushSource<Chunk>
  readonly writer: ResponseWriter<Chunk>
  readonly client: ClientStream
  /** Closes the stored turn. Resolves to the outcome to render: a failure if the turn could not be stored. */
  readonly settle: (outcome: Outcome, ending: 'finished' | 'cancelled') => Promise<Outcome>
  readonly runLater: HttpExchange['runLater']
  readonly heartbeatMs: number
  readonly log: Log
}

export function streamAnswerToClient<Chunk>(parts: AnswerStreamParts<Chunk>): void {
  const { source, writer, client, settle, runLater, heartbeatMs, log } = parts
  let isOver = false
  const { send, stop: stopHeartbeat } = createHeartbeat(client, heartbeatMs)

  const finish = (failure: Failure | null): void => {
    if (isOver) return
    isOver = true
    void writeEnding(failure).catch(breakOff).finally(stopHeartbeat)
  }
  const writeEnding = async (failure: Failure | null): Promise<void> => {
    const text = closeWriter(failure)
    const outcome = writer.getOutcome()
    if (text instanceof GatewayError) {
      await settle({ ...outcome, finish: null, failure: text.failure }, 'finished')
      return client.abort()
    }
    send(text)
    const settled = await settle(outcome, 'finished')
    client.end(writer.renderEnd(settled))
  }
  /**
   * Reports the end of the body to the writer. Returns the text to send before the turn is stored, or the
   * error if the writer throws.
   */
  const closeWriter = (failure: Failure | null): string | GatewayError => {
    try {
      return writer.endBody(failure)
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
    // Cancels first, because storing a long answer takes time, and many clients may disconnect at once.
    source.cancel()
    runLater(() => storePartialAnswer().catch(breakOff))
  }
  const storePartialAnswer = async (): Promise<void> => {
    try {
      writer.abandon()
    } catch (error) {
      convertUnexpectedError(error, log)
    }
    await settle({ ...writer.getOutcome(), failure: null }, 'cancelled')
  }

  const fail = (error: unknown): void => {
    // Writes the failure before it cancels the upstream. Otherwise, the client would be sent the broken
    // connection as the reason.
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
    // After a disconnect, the upstream may report that it was cancelled before `onDisconnect` is called.
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
