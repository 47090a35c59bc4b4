/**
 * Server-sent events, in both directions. Reading accepts every line ending, any cut between chunks,
 * and a last event without its blank line; writing uses LF and keeps an event in one piece.
 */
import { createParser } from 'eventsource-parser'
import { joined } from '../conversation/bytes.ts'
import { NOTHING, type SseMessage, type Stage } from './stage.ts'

/** Throws when a single event grows beyond `maxEventBytes`: there is no telling where it ends. */
export function sseDecoder(maxEventBytes = 16 * 1024 * 1024): Stage<Uint8Array, SseMessage> {
  const text = new TextDecoder()
  let messages: SseMessage[] = []
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ event, data }) => messages.push({ event, data }),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw error
    },
  })
  const taken = (): readonly SseMessage[] => {
    if (messages.length === 0) return NOTHING
    const ready = messages
    messages = []
    return ready
  }
  return {
    push(chunk) {
      parser.feed(text.decode(chunk, { stream: true }))
      return taken()
    },
    end() {
      parser.feed(text.decode() + '\n\n')
      return taken()
    },
  }
}

export function frame({ event, data }: SseMessage): string {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
}

export function frameAll(messages: readonly SseMessage[]): string {
  let text = ''
  for (const message of messages) text += frame(message)
  return text
}

/**
 * Lets bytes through up to the end of the last whole event, and keeps the rest until it is whole.
 * Otherwise an error written behind a broken stream would stand inside half an event.
 */
export function wholeEvents(): (chunk: Uint8Array) => Uint8Array {
  let kept: Uint8Array[] = []
  let before: Uint8Array = EMPTY
  return (chunk) => {
    const end = eventsEnd(chunk, before)
    before = chunk.length < LOOK_BACK ? joined([before, chunk]).slice(-LOOK_BACK) : chunk
    if (kept.length === 0 && end === chunk.length) return chunk
    if (end === 0) {
      kept.push(chunk)
      return EMPTY
    }
    const whole = joined([...kept, chunk.subarray(0, end)])
    kept = end < chunk.length ? [chunk.subarray(end)] : []
    return whole
  }
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
    if (last !== LF && last !== CR) continue
    // A blank line is a line end behind a line end: LF LF, CR CR, or CR LF behind either.
    const lineStart = last === LF && byte(at - 1) === CR ? at - 2 : at - 1
    const previous = byte(lineStart)
    if (previous === LF || previous === CR) return at + 1
  }
  return 0
}
