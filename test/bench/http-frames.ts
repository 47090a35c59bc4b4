/**
 * Splits a byte stream into HTTP/1.1 messages, for the mock upstream and the load client. On two cores,
 * node:http would cost as much as the measured proxy. Supports only `content-length` and `chunked`, and
 * throws on anything else.
 */
export interface FrameSink {
  /** Start line and headers, without the blank line. */
  readonly head: (text: string) => void
  /** Body bytes without chunk framing, between the offsets `from` and `to`. */
  readonly body: (bytes: Buffer, from: number, to: number) => void
  readonly end: () => void
}

export function httpFrames(sink: FrameSink): (bytes: Buffer) => void {
  let state: State = 'head'
  let pending: Buffer | null = null
  let left = 0
  let lineLength = 0

  function readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1')
    if (end < 0) {
      pending = bytes.subarray(at)
      return bytes.length
    }
    const text = bytes.toString('latin1', at, end)
    sink.head(text)
    left = lineLength = 0
    if (/\r\ntransfer-encoding: *chunked/i.test(text)) state = 'size'
    else {
      left = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
      if (left === 0) sink.end()
      else state = 'fixed'
    }
    return end + 4
  }

  function readBody(bytes: Buffer, at: number): number {
    const to = Math.min(bytes.length, at + left)
    sink.body(bytes, at, to)
    left -= to - at
    if (left > 0) return to
    if (state === 'chunk') state = 'gap'
    else finish()
    return to
  }

  function readSize(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0
    const digit = HEX[byte] ?? -1
    if (digit >= 0) left = left * 16 + digit
    else if (byte === LF) state = left === 0 ? 'trailer' : 'chunk'
    else if (byte !== CR) throw new Error('not a chunk size')
    return at + 1
  }

  function readTrailer(bytes: Buffer, at: number): number {
    const byte = bytes[at]
    if (byte === LF && lineLength === 0) finish()
    else if (byte === LF) lineLength = 0
    else if (byte !== CR) lineLength += 1
    return at + 1
  }

  function finish(): void {
    state = 'head'
    sink.end()
  }

  return (piece) => {
    const bytes: Buffer = pending === null ? piece : Buffer.concat([pending, piece])
    pending = null
    let at = 0
    while (at < bytes.length) {
      if (state === 'head') at = readHead(bytes, at)
      else if (state === 'fixed' || state === 'chunk') at = readBody(bytes, at)
      else if (state === 'size') at = readSize(bytes, at)
      else if (state === 'trailer') at = readTrailer(bytes, at)
      else if (bytes[at++] === LF) state = 'size'
    }
  }
}

/** `gap` is the line end after a chunk. */
type State = 'head' | 'fixed' | 'size' | 'chunk' | 'gap' | 'trailer'

const CR = 13
const LF = 10

const HEX = new Int8Array(256).fill(-1)
for (let digit = 0; digit < 16; digit += 1) {
  HEX[digit.toString(16).charCodeAt(0)] = digit
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}
