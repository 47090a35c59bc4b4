/**
 * Decodes and formats server-sent events such as `data: {"id":1}`. Decoding accepts every line ending,
 * any split into chunks, and a last event without a blank line; formatting uses LF.
 */
import { createParser } from 'eventsource-parser'
import { GatewayError } from '../errors/gateway-error.ts'
import { concatBytes } from './concat-bytes.ts'
import { NO_OUTPUT, type StreamStage } from './stream-stage.ts'

export const MAX_SSE_EVENT_BYTES = 16 * 1024 * 1024

/**
 * Creates a decoder of bytes. It throws a GatewayError if an event is longer than `maxEventBytes`,
 * because it may never end.
 */
export function createSseDecoder(
  maxEventBytes = MAX_SSE_EVENT_BYTES,
): StreamStage<Uint8Array, SseMessage> {
  const text = new TextDecoder()
  const reader = createSseTextDecoder(maxEventBytes)
  return {
    push: (chunk) => reader.push(text.decode(chunk, { stream: true })),
    end: () => [...reader.push(text.decode()), ...reader.end()],
  }
}

/** Creates a decoder of text instead of bytes. */
export function createSseTextDecoder(
  maxEventBytes = MAX_SSE_EVENT_BYTES,
): StreamStage<string, SseMessage> {
  let messages: SseMessage[] = []
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ event, data }) => messages.push({ event, data }),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw createTooLongError()
    },
  })
  const takeMessages = (): readonly SseMessage[] => {
    if (messages.length === 0) return NO_OUTPUT
    const decoded = messages
    messages = []
    return decoded
  }
  return {
    push(text) {
      parser.feed(text)
      return takeMessages()
    },
    end() {
      parser.feed('\n\n')
      return takeMessages()
    },
  }
}

function createTooLongError(): GatewayError {
  return new GatewayError(
    'upstream_broken',
    'The upstream sent a stream that cannot be read: one of its events does not end.',
  )
}

export function formatSseMessage({ event, data }: SseMessage): string {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
}

export function formatSseMessages(messages: readonly SseMessage[]): string {
  return messages.map(formatSseMessage).join('')
}

/**
 * Creates a buffer that forwards bytes only up to the end of a complete event. If the stream then breaks
 * off, an error event can be appended without becoming part of an incomplete event. The buffer throws if
 * it exceeds `maxEventBytes`.
 */
export function createSseBoundaryBuffer(maxEventBytes = MAX_SSE_EVENT_BYTES): SseBoundaryBuffer {
  let buffered: Uint8Array[] = []
  let bufferedBytes = 0
  let previous: Uint8Array = EMPTY
  const buffer = (bytes: Uint8Array): void => {
    buffered.push(bytes)
    bufferedBytes += bytes.length
    if (bufferedBytes > maxEventBytes) throw createTooLongError()
  }
  const release = (): Uint8Array => {
    const bytes = buffered.length === 0 ? EMPTY : concatBytes(buffered)
    buffered = []
    bufferedBytes = 0
    return bytes
  }
  return {
    push(chunk) {
      const end = findEventsEnd(chunk, previous)
      previous =
        chunk.length < LOOK_BACK_BYTES
          ? concatBytes([previous, chunk]).slice(-LOOK_BACK_BYTES)
          : chunk
      if (buffered.length === 0 && end === chunk.length) return chunk
      if (end === 0) {
        buffer(chunk)
        return EMPTY
      }
      buffered.push(chunk.subarray(0, end))
      const events = release()
      if (end < chunk.length) buffer(chunk.subarray(end))
      return events
    },
    rest: release,
  }
}

export interface SseBoundaryBuffer {
  readonly push: (chunk: Uint8Array) => Uint8Array
  /** Returns the buffered bytes: an incomplete event at the end of the stream, or no bytes. */
  readonly rest: () => Uint8Array
}

const EMPTY = new Uint8Array(0)
const LF = 10
const CR = 13

/** Number of bytes before the last byte of a blank line that can belong to it: CR LF CR LF has four bytes. */
const LOOK_BACK_BYTES = 3

/** Returns the index in `chunk` after the last blank line, which may begin in `previous`; 0 if there is none. */
function findEventsEnd(chunk: Uint8Array, previous: Uint8Array): number {
  const byte = (index: number): number | undefined =>
    index >= 0 ? chunk[index] : previous[previous.length + index]
  for (let index = chunk.length - 1; index >= 0; index--) {
    const last = chunk[index]
    // Skips a CR at the end of the chunk, because the next chunk may begin with its LF.
    if (last !== LF && (last !== CR || index === chunk.length - 1)) continue
    // A blank line is two line ends in a row: LF LF, CR CR, LF CR LF or CR LF CR LF.
    const lineStart = last === LF && byte(index - 1) === CR ? index - 2 : index - 1
    const before = byte(lineStart)
    if (before === LF || before === CR) return index + 1
  }
  return 0
}

/** One server-sent event. `event` is missing in an API that does not name its events. */
export interface SseMessage {
  readonly event?: string | undefined
  readonly data: string
}

/** True for the message `[DONE]`, with which OpenAI's streams end. */
export function isDoneMarker({ data }: SseMessage): boolean {
  return data.startsWith('[DONE]')
}
