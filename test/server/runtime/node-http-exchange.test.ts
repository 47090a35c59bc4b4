/** HttpExchange on Node, over real sockets to a real HTTP client. */
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ClientStream } from '../../../src/gateway/http-exchange-interface.ts'
import { createNodeHttpExchange } from '../../../src/server/runtime/node-http-exchange.ts'
import { trackPendingWork } from '../../../src/server/runtime/pending-work.ts'

let server: Server
let port: number
let run: (client: ClientStream) => void
let onSent = (): void => undefined
beforeAll(async () => {
  const listener = getRequestListener((_, env) => {
    const exchange = createNodeHttpExchange(env as HttpBindings, trackPendingWork())
    const response = exchange.startStream(200, { 'x-mine': '1' }, (client) => run(client))
    exchange.onSent(() => onSent())
    return response
  })
  server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())
beforeEach(() => {
  run = (client) => client.end('')
  onSent = () => undefined
})

const utf8 = new TextEncoder()

function get(): Promise<{ head: IncomingMessage; text: Promise<string> }> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1' }, (head) => {
      const chunks: Buffer[] = []
      head.on('data', (chunk: Buffer) => chunks.push(chunk))
      const text = new Promise<string>((done, failed) => {
        head.on('end', () => done(Buffer.concat(chunks).toString()))
        head.on('error', failed)
      })
      resolve({ head, text })
    })
      .on('error', reject)
      .end()
  })
}

test('the client receives texts and bytes in the order in which the Node exchange writes them', async () => {
  run = (client) => {
    client.write('Grüß ')
    client.write(utf8.encode('Gött '))
    setTimeout(() => {
      client.write('🙂 ')
      client.write(utf8.encode('ü'.repeat(70_000)))
      client.end('.')
    }, 5)
  }
  const { head, text } = await get()
  expect(head.headers['x-mine']).toBe('1')
  expect(await text).toBe(`Grüß Gött 🙂 ${'ü'.repeat(70_000)}.`)
})

test('pieces of an answer that are written in one pass of the event loop become one HTTP chunk', async () => {
  run = (client) => {
    client.write('a')
    setTimeout(() => {
      for (const piece of ['b', 'ü', '🙂']) client.write(piece)
      for (const piece of ['c', 'd']) client.write(utf8.encode(piece))
      setTimeout(() => client.end('e'), 5)
    }, 5)
  }
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  let answer = ''
  for await (const bytes of socket) answer += String(bytes)
  const [, body] = answer.split('\r\n\r\n1\r\na')
  expect(body).toBe('\r\n7\r\nbü🙂\r\n2\r\ncd\r\n1\r\ne\r\n0\r\n\r\n')
})

test('the headers of a streamed answer arrive before the first piece of its body', async () => {
  let say = (): void => undefined
  run = (client) => void (say = () => client.end('late'))
  const { head, text } = await get()
  expect(head.statusCode).toBe(200)
  say()
  expect(await text).toBe('late')
})

test('an HTTP answer that the gateway aborts ends with a broken connection, so that it does not look complete', async () => {
  run = (client) => {
    client.write('half')
    setTimeout(client.abort, 10)
  }
  const { text } = await get()
  await expect(text).rejects.toThrow('aborted')
})

test('an HTTP/1.0 client gets a body without chunks', async () => {
  run = (client) => {
    client.write('a')
    client.write('b')
    client.end('c')
  }
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.0\r\nhost: localhost\r\n\r\n')
  let answer = ''
  for await (const bytes of socket) answer += String(bytes)
  expect(answer).toMatch(/\r\n\r\nabc$/)
})

test("`write` of a client stream returns false when the socket's buffer is full, and `onDrain` is called when it has room again", async () => {
  let writes = 0
  let drains = 0
  const over = new Promise<void>((resolve) => {
    run = (client) => {
      const fill = (): void => {
        while (writes < 400) {
          writes += 1
          if (!client.write('x'.repeat(64 * 1024))) return
        }
        client.end('')
        resolve()
      }
      client.onDrain(() => {
        drains += 1
        fill()
      })
      fill()
    }
  })
  const { text } = await get()
  await over
  expect((await text).length).toBe(400 * 64 * 1024)
  expect(drains).toBeGreaterThan(3)
})

test('many answers over one HTTP connection leave no listeners on its socket', async () => {
  const warnings: Error[] = []
  const warned = (warning: Error): void => void warnings.push(warning)
  process.on('warning', warned)
  run = (client) => {
    client.onDrain(() => undefined)
    client.onDisconnect(() => undefined)
    client.write('a')
    client.write('b')
    client.end('')
  }
  for (let at = 0; at < 30; at++) expect(await (await get()).text).toBe('ab')
  process.off('warning', warned)
  expect(warnings).toEqual([])
})

test('the memory of a request body is released after the body was read', async () => {
  const read = new Promise<{ size: number; holders: number }>((resolve) => {
    const listener = getRequestListener(async (_, env) => {
      const { incoming } = env as HttpBindings
      const exchange = createNodeHttpExchange(env as HttpBindings, trackPendingWork())
      const { length } = await exchange.readBody(1_000_000, () => undefined)
      const holders = incoming.listenerCount('data') + incoming.listenerCount('error')
      resolve({ size: length, holders })
      return exchange.startStream(200, {}, (client) => client.end(''))
    })
    const reading = createServer((incoming, outgoing) => void listener(incoming, outgoing))
    reading.listen(0, '127.0.0.1', () => {
      const to = { port: (reading.address() as AddressInfo).port, host: '127.0.0.1' }
      request({ ...to, method: 'POST' }, (answer) => {
        answer.resume().once('end', () => reading.close())
      }).end(Buffer.alloc(300_000))
    })
  })
  expect(await read).toEqual({ size: 300_000, holders: 0 })
})

const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'

test.each(['reads', 'leaves'])(
  'an answer is sent when its client has read it or has left, not when it has ended: the client %s (C158)',
  async (ending) => {
    let ended = 0
    let sent = 0
    onSent = () => void (sent += 1)
    run = (client) => {
      client.end('x'.repeat(32 * 1024 * 1024))
      ended += 1
    }
    const socket = connect(port, '127.0.0.1')
    socket.write(GET)
    await expect.poll(() => ended).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(sent).toBe(0)
    if (ending === 'reads') socket.resume()
    else socket.destroy()
    await expect.poll(() => sent).toBe(1)
    socket.destroy()
  },
)

test('answers that wait for an earlier one count as sent when their client leaves (C158)', async () => {
  let started = 0
  let sent = 0
  onSent = () => void (sent += 1)
  run = () => void (started += 1)
  const socket = connect(port, '127.0.0.1')
  socket.write(GET.repeat(20))
  await expect.poll(() => started).toBe(20)
  socket.destroy()
  await expect.poll(() => sent).toBe(20)
})
