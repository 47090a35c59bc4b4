/**
 * An upstream on bare sockets, for all four wires, which answers each request as its test wants: with any bytes,
 * at any pace, with any end. It counts how often each request arrives.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { anthropic } from '../../support/services/anthropic.ts'
import { chat } from '../../support/services/chat.ts'
import { gemini } from '../../support/services/gemini.ts'
import { responses } from '../../support/services/responses.ts'
import { createIssuedSeals, type Service } from '../../support/services/service.ts'
import { answerAsModel } from '../../support/services/simulated-model.ts'
import { pause } from './pause.ts'

/** A valid answer to a request, from which broken ones are made. */
export interface ValidAnswer {
  readonly wire: Service['name']
  readonly isStream: boolean
  /** The events of a stream; otherwise the body as one piece. */
  readonly pieces: readonly string[]
}

/** What an upstream sends. `open`: the connection stays open afterwards. */
export interface BrokenAnswer {
  readonly pieces: readonly (string | Buffer)[]
  readonly end: 'fin' | 'reset' | 'open'
  readonly gapMs?: number
}

export interface RawUpstream {
  readonly port: number
  /** The answers by the number in the model's name, e.g. 12 for `claude-torture12`. */
  readonly answers: Map<number, (valid: ValidAnswer) => BrokenAnswer>
  /** How often the request with this number arrived. */
  readonly arrivals: Map<number, number>
  readonly close: () => Promise<void>
}

const SERVICES: readonly Service[] = [chat, responses, anthropic, gemini]

export async function startRawUpstream(): Promise<RawUpstream> {
  const answers: RawUpstream['answers'] = new Map()
  const arrivals = new Map<number, number>()
  const sockets = new Set<Socket>()

  const respond = async (socket: Socket, request: RawRequest): Promise<void> => {
    const number = Number(/torture(\d+)/.exec(request.path + request.text)?.[1])
    const answer = answers.get(number)
    arrivals.set(number, (arrivals.get(number) ?? 0) + 1)
    if (answer === undefined) return void socket.destroy()
    const { pieces, end, gapMs } = answer(createValidAnswer(request))
    for (const piece of pieces) {
      if (socket.destroyed) return
      socket.write(piece)
      if (gapMs !== undefined) await pause(gapMs)
    }
    if (end === 'fin') socket.end()
    // Bytes that are not sent yet would be dropped.
    if (end === 'reset') socket.write('', () => socket.resetAndDestroy())
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    let received = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      for (let next = takeRequest(received); next !== null; next = takeRequest(received)) {
        received = received.subarray(next.bytes)
        void respond(socket, next)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    answers,
    arrivals,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

interface RawRequest {
  readonly path: string
  readonly text: string
  /** The length of the complete request. */
  readonly bytes: number
}

/** Returns null for an incomplete request. */
function takeRequest(received: Buffer): RawRequest | null {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const head = received.subarray(0, headEnd).toString('latin1')
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  const bytes = headEnd + 4 + length
  if (received.length < bytes) return null
  const text = received.subarray(headEnd + 4, bytes).toString()
  return { path: head.split(' ')[1] ?? '', text, bytes }
}

function createValidAnswer({ path, text }: RawRequest): ValidAnswer {
  const service = SERVICES.find(({ serves }) => serves(path)) as Service
  const request = { path, headers: {}, body: JSON.parse(text) as JsonObject }
  const spoken = answerAsModel(service.read(request))
  const whole = service.buildBody(spoken, request, { number: 1, issued: createIssuedSeals() })
  const isStream = service.wantsStream(request)
  const pieces = isStream ? service.buildStream(whole, 'plain') : [JSON.stringify(whole)]
  return { wire: service.name, isStream, pieces }
}
