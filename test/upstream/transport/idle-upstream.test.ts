/**
 * Connections to an upstream: idle ones are reused, although the upstream may close them at any time, and no request is
 * sent twice that the upstream may have received.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createFetchTransport } from '../../../src/upstream/transport/fetch-transport.ts'
import { createBodySource, readBody } from '../../../src/upstream/transport/read-complete-reply.ts'
import { MaybeProcessedError } from '../../../src/upstream/transport/transport-interface.ts'
import { createUndiciTransport } from '../../../src/upstream/transport/undici-transport.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'

const timeouts = { headersMs: 2000, idleMs: 2000 }
const undici = createUndiciTransport(timeouts)
let server: Server
afterEach(() => void server.close())
afterAll(undici.close)

/** Starts an upstream; `answer` handles the n-th request of a connection, `received` lists these numbers. */
async function startUpstream(
  answer: (socket: Socket, requestNumber: number) => void,
  transport = undici.transport,
) {
  const received: number[] = []
  server = createServer((socket) => {
    let requestNumber = 0
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      if (!String(bytes).startsWith('POST')) return
      received.push((requestNumber += 1))
      answer(socket, requestNumber)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const send = () => transport({ method: 'POST', url, headers: {}, body: 'question' })
  const ask = async (): Promise<string> => {
    const call = send()
    return new TextDecoder().decode(await readBody(createBodySource(call, await call.reply), 1e7))
  }
  return { send, ask, received }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const CLOSINGS: readonly [string, (socket: Socket) => void][] = [
  ['closed', (socket) => void socket.end()],
  ['reset', (socket) => void socket.resetAndDestroy()],
]

describe.each(CLOSINGS)('a connection that is %s by the upstream', (_, closeConnection) => {
  test('an idle one is not used, so that the next request is sent once, over another', async () => {
    let idle: Socket | null = null
    const { ask, received } = await startUpstream((socket) => {
      idle ??= socket
      socket.write(ANSWER)
    })
    expect(await ask()).toBe('hi')
    await wait(20)
    closeConnection(idle as unknown as Socket)
    // The gateway has not yet noticed that the connection is closed.
    expect(await ask()).toBe('hi')
    expect(received).toEqual([1, 1])
  })

  test('a request that was sent over a used one is not sent again', async () => {
    const { ask, received } = await startUpstream((socket, requestNumber) => {
      if (requestNumber === 1) socket.write(ANSWER)
      else closeConnection(socket)
    })
    await ask()
    await wait(20)
    await expect(ask()).rejects.toThrow(MaybeProcessedError)
    expect(received).toEqual([1, 2])
  })

  test.each([
    ['undici', undici.transport],
    ['fetch', createFetchTransport(timeouts)],
  ])('a request that was sent over a new one is not sent again (%s)', async (__, transport) => {
    const { ask, received } = await startUpstream(closeConnection, transport)
    await expect(ask()).rejects.toThrow(MaybeProcessedError)
    expect(received).toEqual([1])
  })
})

test('the error about a connection that broke before the answer says that the request may have been processed', async () => {
  const { ask } = await startUpstream((socket) => void socket.resetAndDestroy())
  await expect(ask()).rejects.toMatchObject({
    failure: {
      status: 502,
      code: 'upstream_broken',
      message: expect.stringMatching(/broke before it answered \(ECONNRESET\)/) as string,
    },
  })
})

describe('interim statuses that were not requested', () => {
  test.each(['102 Processing', '103 Early Hints', '199 New'])(
    'the final answer after %s is read',
    async (status) => {
      const { ask, received } = await startUpstream(
        (socket) => void socket.write(`HTTP/1.1 ${status}\r\nlink: </a>\r\n\r\n${ANSWER}`),
      )
      expect(await ask()).toBe('hi')
      await wait(20)
      expect(await ask()).toBe('hi')
      expect(received).toEqual([1, 2])
    },
  )

  test.each([
    ['100 Continue', ''],
    ['101 Switching Protocols', ''],
    ['101 Switching Protocols', 'connection: upgrade\r\nupgrade: x\r\n'],
  ])('a request is not sent again after %s, and the error names it', async (status, headers) => {
    const { ask, received } = await startUpstream(
      (socket, requestNumber) =>
        void socket.write(
          requestNumber === 1 ? ANSWER : `HTTP/1.1 ${status}\r\n${headers}\r\n${ANSWER}`,
        ),
    )
    await ask()
    await wait(20)
    const message = new RegExp(
      `interim status ${status.slice(0, 3)}, which the request did not ask for`,
    )
    await expect(ask()).rejects.toThrow(message)
    expect(received).toEqual([1, 2])
  })
})

describe('a complete answer that is followed by the end of its connection', () => {
  const body = 'x'.repeat(300_000)
  const answers = [
    ['short, with its length', ANSWER, 'hi'],
    [
      'long, with its length',
      `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      body,
    ],
    ['chunked', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n', 'hi'],
    ['until the end of its connection', 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhi', 'hi'],
  ] as const

  test.each(answers)('is not lost while it is buffered (%s)', async (_, answer, text) => {
    const { send } = await startUpstream((socket) => void socket.end(answer))
    const call = send()
    const reply = await call.reply
    await wait(50)
    const bytes = await readBody(createBodySource(call, reply), 1e7)
    expect(new TextDecoder().decode(bytes)).toBe(text)
  })

  test.each(answers)('is not lost while its reader has paused it (%s)', async (_, answer, text) => {
    const { send } = await startUpstream((socket) => void socket.end(answer))
    const reply = await send().reply
    let received = ''
    const ending = await new Promise<string>((resolve) => {
      const flow = reply.flow({
        chunk(bytes) {
          received += new TextDecoder().decode(bytes)
          flow.pause()
          setTimeout(flow.resume, 20)
        },
        end: () => resolve('end'),
        failed: ({ message }) => resolve(message),
      })
      flow.pause()
      setTimeout(flow.resume, 20)
    })
    expect({ ending, received }).toEqual({ ending: 'end', received: text })
  })
})

test('an idle upstream connection is reused after five seconds', async () => {
  const { ask, received } = await startUpstream((socket) => void socket.write(ANSWER))
  await ask()
  await wait(5000)
  await ask()
  expect(received).toEqual([1, 2])
}, 10_000)
