/**
 * Server-sent events, in both directions. Reading accepts every line ending, any cut between chunks,
 * and a last event without its blank line; writing uses LF and keeps an event in one piece.
 */
import { createParser } from 'eventsource-parser'
import { concatBytes } from './concat-bytes.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { NO_OUTPUT, type SseMessage, type Stage } from './stage.ts'

export const MAX_EVENT_BYTES = 16 * 1024 * 1024

/** Throws a GatewayError when a single event grows beyond `maxEventBytes`: there is no telling where it ends. */
export function createSseDecoder(maxEventBytes = MAX_EVENT_BYTES): Stage<Uint8Array, SseMessage> {
  const text = new TextDecoder()
  const reader = createSseTextDecoder(maxEventBytes)
  return {
    push: (chunk) => reader.push(text.decode(chunk, { stream: true })),
    end: () => [...reader.push(text.decode()), ...reader.end()],
  }
}

/** The same of what is text already. */
export function createSseTextDecoder(maxEventBytes = MAX_EVENT_BYTES): Stage<string, SseMessage> {
  let messages: SseMessage[] = []
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ event, data }) => messages.push({ event, data }),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw endless()
    },
  })
  const taken = (): readonly SseMessage[] => {
    if (messages.length === 0) return NO_OUTPUT
    const ready = messages
    messages = []
    return ready
  }
  return {
    push(text) {
      parser.feed(text)
      return taken()
    },
    end() {
      parser.feed('\n\n')
      return taken()
    },
  }
}

function endless(): GatewayError {
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
  let text = ''
  for (const message of messages) text += formatSseMessage(message)
  return text
}

/**
 * Lets bytes through up to the end of the last whole event, and keeps the rest until it is whole.
 * Otherwise an error written behind a broken stream would stand inside half an event. Throws when
 * the rest grows beyond `maxEventBytes`.
 */
export function createSseBoundaryBuffer(maxEventBytes = MAX_EVENT_BYTES): SseBoundaryBuffer {
  let kept: Uint8Array[] = []
  let keptBytes = 0
  let before: Uint8Array = EMPTY
  const keep = (rest: Uint8Array): void => {
    kept.push(rest)
    keptBytes += rest.length
    if (keptBytes > maxEventBytes) throw endless()
  }
  const release = (): Uint8Array => {
    const bytes = kept.length === 0 ? EMPTY : concatBytes(kept)
    kept = []
    keptBytes = 0
    return bytes
  }
  return {
    push(chunk) {
      const end = eventsEnd(chunk, before)
      before = chunk.length < LOOK_BACK ? concatBytes([before, chunk]).slice(-LOOK_BACK) : chunk
      if (kept.length === 0 && end === chunk.length) return chunk
      if (end === 0) {
        keep(chunk)
        return EMPTY
      }
      kept.push(chunk.subarray(0, end))
      const whole = release()
      if (end < chunk.length) keep(chunk.subarray(end))
      return whole
    },
    rest: release,
  }
}

export interface SseBoundaryBuffer {
  readonly push: (chunk: Uint8Array) => Uint8Array
  /** What is left when the stream is over: nothing, or an event that was never closed. */
  readonly rest: () => Uint8Array
}

const EMPTY = new Uint8Array(0)
const LF = 10
const CR = 13

/** A blank line is told by its last byte and by up to three in front of it. */
const LOOK_BACK = 3

/** Where the last blank line in `chunk` ends; it may have begun in what came `before`. */
function eventsEnd(chunk: Uint8Array, before: Uint8Array): number {
  const byte = (at: number): number | undefined =>
    at >= 0 ? chunk[at] : before[before.length + at]
  for (let at = chunk.length - 1; at >= 0; at--) {
    const last = chunk[at]
    // Behind a CR at the end there may come the LF that belongs to it.
    if (last !== LF && (last !== CR || at === chunk.length - 1)) continue
    // A blank line is a line end behind a line end: LF LF, CR CR, or CR LF behind either.
    const lineStart = last === LF && byte(at - 1) === CR ? at - 2 : at - 1
    const previous = byte(lineStart)
    if (previous === LF || previous === CR) return at + 1
  }
  return 0
}
