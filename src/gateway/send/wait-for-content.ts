/**
 * Waits until the body of an answer with status 200 has content. An answer without content is rejected: a web page,
 * an empty body, an error as the first event, silence until the idle timeout.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import { createBufferedSink, MAX_BUFFERED_BYTES } from '../../core/stream/create-buffered-sink.ts'
import type { PushSource } from '../../core/stream/push-source-interface.ts'
import type { StreamStage } from '../../core/stream/stream-stage.ts'

/**
 * Resolves to the complete body as soon as it has content or its connection breaks, or after `maxWaitMs`. Rejects with
 * a GatewayError if it ends without content.
 */
export function waitForContent(
  body: PushSource<Uint8Array>,
  decoder: StreamStage<Uint8Array, StreamEvent>,
  maxWaitMs: number,
): Promise<PushSource<Uint8Array>> {
  return new Promise((resolve, reject) => {
    let isDecided = false
    let size = 0
    const decide = (settle: () => void): void => {
      isDecided = true
      clearTimeout(timer)
      settle()
    }
    const accept = (): void => decide(() => resolve({ flow: held.flow, cancel: body.cancel }))
    const refuse = (error: unknown): void => {
      decide(() => reject(error))
      body.cancel()
    }
    const inspect = (decode: () => readonly StreamEvent[]): void => {
      try {
        const first = decode().find(({ type }) => type !== 'answer-started')
        if (first === undefined) return
        if (first.type === 'answer-failed') refuse(new GatewayError(first.failure))
        else accept()
      } catch (error) {
        refuse(error)
      }
    }
    const held = createBufferedSink({ pause: () => flow.pause(), resume: () => flow.resume() })
    const flow = body.flow({
      chunk(bytes) {
        held.chunk(bytes)
        if (isDecided) return
        size += bytes.length
        inspect(() => decoder.push(bytes))
        // A body of this size has content, e.g. a large JSON object. Accepting it now avoids decoding all of it twice.
        if (!isDecided && size > MAX_BUFFERED_BYTES) accept()
      },
      end() {
        held.end()
        if (!isDecided) inspect(decoder.end)
        if (!isDecided) accept()
      },
      failed(failure) {
        held.failed(failure)
        if (isDecided) return
        // If the connection broke, the upstream may have processed the request, so no other upstream may get it.
        if (failure.code === 'upstream_timeout') refuse(new GatewayError(failure))
        else accept()
      },
    })
    const timer = maxWaitMs === Infinity ? undefined : setTimeout(accept, maxWaitMs)
  })
}
