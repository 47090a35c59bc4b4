/** Clients that do not read the end of their answer, over real sockets. */
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { disconnectStalledClient } from '../../../src/server/runtime/node-stalled-client.ts'

const LARGE = Buffer.alloc(48 * 1024 * 1024, 'x')

test('a client that stops reading an answer that has ended is disconnected, and one that reads slowly is not', async () => {
  const answers: ServerResponse[] = []
  const server = createServer({ keepAliveTimeout: 60_000 }, (_, outgoing) => {
    answers.push(outgoing)
    disconnectStalledClient(outgoing, { maxStallMs: 600, minBytesPerSecond: 1_000_000 })
    outgoing.end(LARGE)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ask = () => connect(port, '127.0.0.1').end('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const stalled = ask().on('error', () => undefined)
  await vi.waitFor(() => expect(answers).toHaveLength(1))
  const slow = ask()
  let bytes = 0
  for await (const chunk of slow) {
    const before = bytes
    bytes += (chunk as Buffer).length
    if (Math.floor(bytes / 4e6) > Math.floor(before / 4e6))
      await new Promise((resolve) => setTimeout(resolve, 60))
  }
  expect(bytes).toBeGreaterThan(LARGE.length)
  await vi.waitFor(() => expect(answers[0]?.destroyed).toBe(true), { timeout: 5_000 })
  expect(answers.map(({ writableFinished }) => writableFinished)).toEqual([false, true])
  stalled.destroy()
  server.close()
})

test('a client that reads the end of its answer more slowly than the minimum speed is disconnected', async () => {
  const answers: ServerResponse[] = []
  const server = createServer({ keepAliveTimeout: 60_000 }, (_, outgoing) => {
    answers.push(outgoing)
    disconnectStalledClient(outgoing, { maxStallMs: 600, minBytesPerSecond: 80_000_000 })
    outgoing.end(LARGE)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const slow = connect(port, '127.0.0.1').end('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  slow.on('error', () => undefined)
  const timer = setInterval(() => void slow.read(1_000_000), 100)
  await vi.waitFor(() => expect(answers[0]?.destroyed).toBe(true), { timeout: 5_000 })
  expect(answers[0]?.writableFinished).toBe(false)
  clearInterval(timer)
  slow.destroy()
  server.close()
})
