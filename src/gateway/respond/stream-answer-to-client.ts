/**
 * Joins what an upstream says to a client, and owns the three endings of a stream: it finished, it
 * broke off upstream, the client hung up. Whatever happens, exactly one of them runs, once: of what
 * cannot even be told the client learns by a connection that breaks off.
 *
 * Nothing here waits on the path of a token. The two things worth waiting for are a client that is
 * full, which holds the upstream back, and the outcome being safe, which holds back the last words. What
 * a rendition holds back itself (`markers/delay-first-text.ts`), it sends when it is time.
 */
import type { Failure } from '../../core/stream-event.ts'
import type { Log } from '../../core/ports/log-interface.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { ClientStream } from '../http-exchange-interface.ts'
import { createFailure, GatewayError } from '../../core/errors/gateway-error.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { PushSource } from '../../core/stream/push-source.ts'
import type { ResponseWriter } from './response-writer-interface.ts'

export interface AnswerStreamParts<Chunk> extends AnswerStreamTarget {
  readonly source: PushSource<Chunk>
  readonly writer: ResponseWriter<Chunk>
}

/** The end of it that is the same, whatever comes. */
export interface AnswerStreamTarget {
  readonly client: ClientStream
  /** Makes the outcome safe. What it resolves to is what the client is told. */
  readonly settle: (outcome: Outcome, ending: 'finished' | 'cancelled') => Promise<Outcome>
  readonly heartbeatMs: number
  readonly log: Log
}

const GONE = createFailure('upstream_broken', 'The client went away.')

export function streamAnswerToClient<Chunk>(parts: AnswerStreamParts<Chunk>): void {
  const { source, writer, client, settle, heartbeatMs, log } = parts
  let over = false
  const { send, stopBeating } = heartbeat(client, heartbeatMs)

  const finish = (failure: Failure | null): void => {
    if (over) return
    over = true
    void told(failure).catch(breakOff).finally(stopBeating)
  }
  const told = async (failure: Failure | null): Promise<void> => {
    const words = closed(failure)
    const said = writer.outcome()
    if (words instanceof GatewayError) {
      await settle({ ...said, finish: null, failure: words.failure }, 'finished')
      return client.abort()
    }
    send(words)
    const outcome = await settle(said, 'finished')
    client.end(writer.end(outcome))
  }
  /** The words before the last, or why the rendition cannot come to an end. */
  const closed = (failure: Failure | null): string | GatewayError => {
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

  const hungUp = (): void => {
    if (over) return
    over = true
    stopBeating()
    source.cancel()
    // Nobody hears it any more, but what had been begun is kept as it stands.
    closed(GONE)
    settle({ ...writer.outcome(), failure: null }, 'cancelled').catch(breakOff)
  }

  const failed = (error: unknown): void => {
    // Told before it is cancelled, which would be heard of as a broken connection.
    finish(convertUnexpectedError(error, log).failure)
    source.cancel()
  }

  const flow = source.flow({
    chunk(chunk) {
      if (over) return
      try {
        if (!send(writer.push(chunk))) flow.pause()
        if (!writer.isOver()) return
        finish(null)
        if (writer.isCutShort()) source.cancel()
      } catch (error) {
        failed(error)
      }
    },
    end: () => finish(null),
    // A client that hangs up may be heard of here first: its upstream is cancelled at once.
    failed: (failure) => (client.isDisconnected() ? hungUp() : finish(failure)),
  })
  writer.onReady?.((text) => {
    if (client.isDisconnected()) return
    try {
      if (!send(text()) && !over) flow.pause()
    } catch (error) {
      failed(error)
    }
  })
  client.onDisconnect(hungUp)
  client.onDrain(flow.resume)
}

/** Writes to a client, and to one that has heard nothing for so long something that says nothing. */
function heartbeat(client: ClientStream, heartbeatMs: number) {
  let quiet = true
  const timer = setInterval(() => {
    if (quiet) client.write(': ping\n\n')
    quiet = true
  }, heartbeatMs)
  const send = (text: string | Uint8Array): boolean => {
    if (text.length === 0) return true
    quiet = false
    return client.write(text)
  }
  return { send, stopBeating: () => clearInterval(timer) }
}
