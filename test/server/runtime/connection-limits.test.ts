/**
 * Limits of client connections over real sockets: slow headers, slow and unfinished bodies, too many
 * connections, and WebSocket messages that never end.
 */
import { connect as connectSocket, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import { connect, create } from '../../support/socket-client.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

const DEMO = {
  UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":0}}]',
}

/** A raw connection that collects everything it receives. */
function open({ url }: Gateway) {
  const socket: Socket = connectSocket(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (bytes) => void (received += String(bytes)))
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)))
  return { socket, closed, received: () => received }
}

function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => void socket.write(piece), everyMs)
  socket.once('close', () => clearInterval(timer))
}

const POST = 'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n'
const QUESTION = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: '/say hi' }] })

function expectTimeout(answer: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 408 /)
  expect(head).toMatch(/^connection: close$/im)
  expect(JSON.parse(body)).toMatchObject({
    error: { type: 'invalid_request_error', code: 'request_timeout', param: null },
  })
}

describe.concurrent('slow requests', () => {
  let gateway: Gateway
  beforeAll(async () => {
    gateway = await startGateway({
      ...DEMO,
      HEADER_TIMEOUT_SECONDS: '1',
      BODY_TIMEOUT_SECONDS: '1',
      BODY_MIN_KB_PER_SECOND: '8',
    })
  })
  afterAll(() => gateway.close())

  test('a client that sends its headers byte by byte gets 408 and is disconnected', async () => {
    const { socket, closed } = open(gateway)
    socket.write('POST /v1/responses HTTP/1.1\r\nx: ')
    drip(socket, 'x', 50)
    expectTimeout(await closed)
  })

  test('a client that sends nothing at all is disconnected', async () => {
    expectTimeout(await open(gateway).closed)
  })

  test('a client that stops in the middle of its body gets 408 and is disconnected', async () => {
    const { socket, closed } = open(gateway)
    socket.write(`${POST}content-length: 1000\r\n\r\n{"model":`)
    expectTimeout(await closed)
  })

  test('a client that sends its body byte by byte gets 408 and is disconnected', async () => {
    const { socket, closed } = open(gateway)
    socket.write(`${POST}transfer-encoding: chunked\r\n\r\n`)
    drip(socket, '1\r\n \r\n', 50)
    expectTimeout(await closed)
  })

  test('a client that never finishes a body that nobody reads is disconnected', async () => {
    const { socket, closed } = open(gateway)
    socket.write('GET /v1/models HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n')
    drip(socket, 'x', 50)
    expect(await closed).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('an upload that takes much longer than the time limit, but arrives steadily, is answered', async () => {
    const { socket, received } = open(gateway)
    const padding = ' '.repeat(4_000)
    const pieces = [...Array.from({ length: 16 }, () => padding), QUESTION]
    const length = pieces.reduce((sum, { length }) => sum + length, 0)
    socket.write(`${POST}content-length: ${length}\r\n\r\n`)
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 120))
    }
    await vi.waitFor(() => expect(received()).toContain('"content":"hi"'), { timeout: 5_000 })
    expect(received()).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  test('bytes that are no HTTP get an error in the format of the API', async () => {
    const { socket, closed } = open(gateway)
    socket.write('what?\r\n\r\n')
    const answer = await closed
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      error: { code: 'invalid_value' },
    })
  })

  test('a WebSocket whose client never finishes a message is closed, and an idle WebSocket stays open', async () => {
    const idle = await connect(gateway.url)
    const slow = await connect(gateway.url)
    slow.socket.send('{"type":', { fin: false })
    const timer = setInterval(() => slow.socket.send(' ', { fin: false }), 50)
    expect(await slow.closed).toMatchObject({ code: 1008 })
    clearInterval(timer)
    expect((await idle.ask(create('/say still here'))).text).toBe('still here')
    idle.socket.close()
  })
})

describe.concurrent('numbers of connections', () => {
  test('connections beyond the maximum are closed at once, and one log line in a minute reports them', async () => {
    const gateway = await startGateway({ ...DEMO, MAX_CONNECTIONS: '2' })
    const first = open(gateway)
    const second = open(gateway)
    for (const { socket } of [first, second]) socket.write('GET /he')
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (let more = 0; more < 3; more += 1) expect(await open(gateway).closed).toBe('')
    const lines = gateway.log.filter(({ event }) => event === 'connections-refused')
    expect(lines).toMatchObject([{ level: 'warn', fields: { limit: 2 } }])
    for (const { socket } of [first, second]) socket.write('althz HTTP/1.1\r\nhost: x\r\n\r\n')
    await vi.waitFor(() => expect(first.received()).toMatch(/^HTTP\/1\.1 200 /))
    // The connections are idle now, so a refused client makes room for a later one.
    await vi.waitFor(async () => expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200), {
      timeout: 5_000,
    })
    await gateway.close()
  })

  test('a key gets 429 for more WebSockets than it may have, and other keys do not', async () => {
    const gateway = await startGateway({
      ...DEMO,
      WEBSOCKETS_PER_KEY: '1',
      BACKSTORY_KEYS: 'ada:key-of-ada-0000,grace:key-of-grace-00',
    })
    const as = (key: string) =>
      connect(gateway.url, { headers: { authorization: `Bearer ${key}` } })
    const ada = await as('key-of-ada-0000')
    await expect(as('key-of-ada-0000')).rejects.toThrow('429')
    const grace = await as('key-of-grace-00')
    ada.socket.close()
    await ada.closed
    const again = await vi.waitFor(() => as('key-of-ada-0000'))
    for (const { socket } of [again, grace]) socket.close()
    await gateway.close()
  })

  test('a WebSocket message far over the maximum size of a request closes its connection', async () => {
    const gateway = await startGateway({ ...DEMO, MAX_BODY_MB: '4' })
    const { socket, closed } = await connect(gateway.url)
    socket.on('error', () => undefined)
    socket.send('x'.repeat(6 * 1024 * 1024))
    expect(await closed).toMatchObject({ code: 1009 })
    await gateway.close()
  })

  test('KEEP_ALIVE_SECONDS is announced to clients', async () => {
    const gateway = await startGateway({ ...DEMO, KEEP_ALIVE_SECONDS: '90' })
    const { socket, received } = open(gateway)
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    await vi.waitFor(() => expect(received()).toMatch(/keep-alive: timeout=90\r\n/i))
    socket.destroy()
    await gateway.close()
  })
})
