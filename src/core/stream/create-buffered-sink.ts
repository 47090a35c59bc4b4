/** Buffers the chunks of a source until their consumer is known, e.g. a body until its turn has been opened. */
import type { Failure } from '../stream-event.ts'
import type { FlowControl, PushSink } from './push-source-interface.ts'

export interface BufferedSink extends PushSink {
  /** Passes everything buffered and everything later on to the consumer. May be called only once. */
  readonly flow: (consumer: PushSink) => FlowControl
}

/**
 * Maximum size of the buffer. A complete answer is usually smaller, so it is read to its end and cannot be lost when its
 * connection ends.
 */
export const MAX_BUFFERED_BYTES = 256 * 1024

/** Creates the sink of a source. The source is paused while the buffer is full. */
export function createBufferedSink(source: FlowControl): BufferedSink {
  let consumer: PushSink | null = null
  let isPaused = false
  let isFull = false
  let size = 0
  const buffered: ((consumer: PushSink) => void)[] = []
  const pass = (event: (consumer: PushSink) => void): void => {
    if (consumer === null) buffered.push(event)
    else event(consumer)
  }
  const attach = (to: PushSink): void => {
    consumer = to
    for (const event of buffered) event(to)
    if (isFull && !isPaused) source.resume()
  }
  return {
    chunk(bytes: Uint8Array) {
      if (consumer !== null) return consumer.chunk(bytes)
      buffered.push((to) => to.chunk(bytes))
      size += bytes.length
      isFull = size > MAX_BUFFERED_BYTES
      if (isFull) source.pause()
    },
    end: () => pass((to) => to.end()),
    failed: (failure: Failure) => pass((to) => to.failed(failure)),
    flow: (to) => {
      // Attaches the consumer only in a microtask, so that `flow` has returned before the first event.
      queueMicrotask(() => attach(to))
      return {
        pause() {
          isPaused = true
          source.pause()
        },
        resume() {
          isPaused = false
          source.resume()
        },
      }
    },
  }
}
