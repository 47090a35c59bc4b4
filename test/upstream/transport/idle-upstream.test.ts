/** Idle connections to an upstream are reused, although the upstream may close them at any time. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createBodySource, readBody } from '../../../src/upstream/transport/read-complete-reply.ts'
import { createUndiciTransport } from '../../../src/upstream/transport/undici-transport.ts'

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'

let server: Server
const undici = createUndiciTransport({ headersMs: 2000, idleMs: 2000 })
afterEach(() => void server.close())

/** Starts an upstream; `answer` handles the n-th request of a connection, `received` lists these numbers. */
async function startUpstream(answer: (socket: Socket, requestNumber: number) => void) {
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
  const ask = async (): Promise<string> => {
    const call = undici.transport({ method: 'POST', url, headers: {}, body: 'question' })
    return new TextDecoder().decode(await readBody(createBodySource(call, await call.reply), 100))
  }
  return { ask, received }
}

test.each([
  ['closed', (socket: Socket) => void socket.end()],
  ['reset', (socket: Socket) => void socket.resetAndDestroy()],
])(
  'a request on an idle connection that is %s by the upstream is sent again',
  async (_, closeConnection) => {
    const { ask, received } = await startUpstream((socket, requestNumber) => {
      if (requestNumber === 1) socket.write(ANSWER)
      else closeConnection(socket)
    })
    expect(await ask()).toBe('hi')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await ask()).toBe('hi')
    expect(received).toEqual([1, 2, 1])
  },
)

test('an upstream request that fails on a new connection is not sent again', async () => {
  const { ask, received } = await startUpstream((socket) => void socket.end())
  await expect(ask()).rejects.toMatchObject({ failure: { code: 'upstream_unreachable' } })
  expect(received).toEqual([1])
})

test('an upstream request that fails after more than a second is not sent again', async () => {
  const { ask, received } = await startUpstream((socket) => {
    setTimeout(() => void socket.resetAndDestroy(), 1100)
  })
  await expect(ask()).rejects.toMatchObject({ failure: { code: 'upstream_unreachable' } })
  expect(received).toEqual([1])
})

test('an idle upstream connection is reused after five seconds', async () => {
  const { ask, received } = await startUpstream((socket) => void socket.write(ANSWER))
  await ask()
  await new Promise((resolve) => setTimeout(resolve, 5000))
  await ask()
  expect(received).toEqual([1, 2])
}, 10_000)
