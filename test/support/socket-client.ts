/** A client of the WebSocket mode over a real socket, which sends requests and collects answers. */
import { WebSocket, type ClientOptions } from 'ws'
import type { JsonObject } from '../../src/core/json/json.ts'
import { findAnswerFaults, endsAnswer, isErrorFrame } from './frames.ts'

export interface Answered {
  readonly frames: readonly JsonObject[]
  readonly faults: readonly string[]
  /** The response of the last frame; empty for a rejected request. */
  readonly response: JsonObject
  readonly id: string
  readonly text: string
  /** `status code` of a rejected request. */
  readonly refusal: string | null
}

export interface SocketClient {
  readonly socket: WebSocket
  /** Sends one message and waits for its answer. */
  readonly ask: (message: JsonObject | string) => Promise<Answered>
  readonly send: (message: JsonObject | string) => void
  readonly answer: () => Promise<Answered>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

export async function connect(url: string, options: ClientOptions = {}): Promise<SocketClient> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/responses`, options)
  const answers: Answered[] = []
  const waiting: ((answered: Answered) => void)[] = []
  let frames: JsonObject[] = []
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as JsonObject
    frames.push(frame)
    if (!endsAnswer(frame)) return
    const answered = readAnswerFromFrames(frames)
    frames = []
    const next = waiting.shift()
    if (next === undefined) answers.push(answered)
    else next(answered)
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
    socket.once('unexpected-response', (_, response) => {
      socket.terminate()
      reject(new Error(String(response.statusCode)))
    })
  })
  const send = (message: JsonObject | string): void =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  const answer = (): Promise<Answered> => {
    const ready = answers.shift()
    return ready === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(ready)
  }
  return {
    socket,
    send,
    answer,
    ask(message) {
      send(message)
      return answer()
    },
    closed,
  }
}

export function readAnswerFromFrames(frames: readonly JsonObject[]): Answered {
  const last = frames.at(-1) ?? {}
  const response = (last['response'] ?? {}) as JsonObject
  const error = (last['error'] ?? {}) as JsonObject
  const output = (response['output'] ?? []) as readonly { content?: { text?: string }[] }[]
  return {
    frames,
    get faults() {
      return findAnswerFaults(frames)
    },
    response,
    id: typeof response['id'] === 'string' ? response['id'] : '',
    text: output.flatMap(({ content = [] }) => content.map(({ text }) => text ?? '')).join(''),
    refusal: isErrorFrame(last) ? `${String(last['status'])} ${String(error['code'])}` : null,
  }
}

export function create(input: unknown, more: JsonObject = {}): JsonObject {
  return { type: 'response.create', model: 'demo', input: input as string, ...more }
}
