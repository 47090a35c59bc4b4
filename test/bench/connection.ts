/**
 * A keep-alive connection of the load client: sends prepared bytes and summarizes the answer. Kept cheap, so
 * that the client never limits a run.
 */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { countMarks } from './count-marks.ts'
import { httpFrames } from './http-frames.ts'
import type { Expected } from './job.ts'

export interface Answer {
  readonly status: number
  readonly bytes: number
  readonly marks: number
  /** The last 80 characters of the body. */
  readonly tail: string
  readonly firstByteMs: number
  readonly totalMs: number
  /** Why the connection broke, or null. */
  readonly broken: string | null
}

export interface Connection {
  /** Sends one request at a time. `onFirstByte` is for streams that are not read to their end. */
  readonly ask: (
    request: Buffer,
    onAnswer: (answer: Answer) => void,
    onFirstByte?: () => void,
  ) => void
  readonly close: () => void
}

export function openConnection(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(converse(socket))
    })
  })
}

export function whatIsWrong(answer: Answer, expected: Expected): string | null {
  if (answer.broken !== null) return `the connection broke: ${answer.broken}`
  if (answer.status !== 200) return `status ${answer.status}: …${answer.tail}`
  if (answer.marks !== expected.marks) {
    return `${answer.marks} tokens arrived, ${expected.marks} were expected`
  }
  if (Math.abs(answer.bytes - expected.bytes) > expected.tolerance) {
    return `${answer.bytes} bytes arrived, ${expected.bytes} were expected`
  }
  return answer.tail.trimEnd().endsWith(expected.ending) ? null : `it ended in …${answer.tail}`
}

function converse(socket: Socket): Connection {
  let done: ((answer: Answer) => void) | null = null
  let began: (() => void) | undefined
  let startedAt = 0
  let firstByteAt = 0
  let status = 0
  let bytes = 0
  let marks = 0
  let tail = ''

  function finish(broken: string | null): void {
    const report = done
    done = null
    const endedAt = performance.now()
    const firstByteMs = (firstByteAt === 0 ? endedAt : firstByteAt) - startedAt
    report?.({ status, bytes, marks, tail, firstByteMs, totalMs: endedAt - startedAt, broken })
  }

  const read = httpFrames({
    head(text) {
      status = Number(text.slice(9, 12))
    },
    body(piece, from, to) {
      if (firstByteAt === 0) {
        firstByteAt = performance.now()
        began?.()
      }
      bytes += to - from
      marks += countMarks(piece, from, to)
      tail = (tail + piece.toString('latin1', Math.max(from, to - TAIL), to)).slice(-TAIL)
    },
    end: () => finish(null),
  })
  socket.on('data', read)
  socket.on('error', (error) => finish(error.message))
  socket.on('close', () => finish('closed by the other side'))

  return {
    ask(request, onAnswer, onFirstByte) {
      done = onAnswer
      began = onFirstByte
      firstByteAt = status = bytes = marks = 0
      tail = ''
      startedAt = performance.now()
      if (socket.destroyed) finish('closed between two requests')
      else socket.write(request)
    },
    close() {
      done = null
      socket.destroy()
    },
  }
}

const TAIL = 80
