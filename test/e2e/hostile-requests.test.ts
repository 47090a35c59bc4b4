/**
 * No bytes that arrive on a socket may end the process: requests for a WebSocket whose URL or headers are invalid
 * get an error, and all other clients are served as before.
 */
import fc from 'fast-check'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'

const UPGRADE_HEADERS = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

const INVALID_REQUESTS: readonly (readonly [what: string, target: string, host: string])[] = [
  ['a host with a user name', '/v1/responses', 'a@b'],
  ['a host with user name and password', '/v1/responses', 'user:pass@localhost'],
  ['a target with credentials', 'http://user:pass@localhost/v1/responses', 'localhost'],
  ['a host that is no host', '/v1/responses', '['],
  ['a host with a space', '/v1/responses', 'a b'],
  ['a host with a port over 65,535', '/v1/responses', 'localhost:99999'],
  ['an empty host', '/v1/responses', ''],
  ['credentials after a wrong base URL', '//v1/responses/', 'a@b'],
]

describe('requests for a WebSocket with an invalid URL', () => {
  let child: ChildGateway
  beforeAll(async () => {
    child = await startChild({ DATABASE_URL: 'sqlite::memory:' })
  })
  afterAll(() => child.kill('SIGTERM'))

  test.each(INVALID_REQUESTS)(
    '%s is rejected with a status from 400 to 499, and the process serves on',
    async (_, target, host) => {
      expect(await send(child, target, host)).toMatch(/^HTTP\/1\.1 4\d\d /)
      expect((await fetch(`${child.url}/healthz`)).status).toBe(200)
    },
  )

  test('no target and no host ends the process', async () => {
    const text = fc.string({
      unit: fc.constantFrom(...'ab@:/?#[]%.0 \\*;é\t'.split('')),
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(text, text, async (path, host) => {
        await send(child, `/v1/responses${path.replaceAll(/\s/g, '')}`, host)
        await send(child, path.replaceAll(/\s/g, '') || '/', host)
        expect((await fetch(`${child.url}/healthz`)).status).toBe(200)
      }),
      { numRuns: 100 },
    )
  })

  test('an upgrade of a path without WebSockets is answered like a request without an upgrade', async () => {
    expect(await send(child, '/v1/models', 'localhost')).toMatch(/^HTTP\/1\.1 200 /)
  })
})

test.each([
  ['a path with a backslash', '/v1\\models', 'localhost'],
  ['a host with a user name', '/v1/models', 'a@b'],
])('%s gets an error with a message in an ordinary request, too', async (_, target, host) => {
  const child = await startChild({ DATABASE_URL: 'sqlite::memory:' })
  const answer = await send(child, target, host, ['Connection: close'])
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_value"/s)
  await child.kill('SIGTERM')
})

test('an exception in an event handler does not end the process', async () => {
  const fault = `
    import { isMainThread } from 'node:worker_threads'
    if (isMainThread) setInterval(() => { throw new Error('lost') }, 100)`
  const child = await startChild({
    DATABASE_URL: 'sqlite::memory:',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
  })
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect((await fetch(`${child.url}/healthz`)).status).toBe(200)
  await child.kill('SIGTERM')
})

/** Sends a request as raw bytes, by default one for a WebSocket. Resolves to the first bytes of the answer; '' if there is none. */
function send(
  { url }: ChildGateway,
  target: string,
  host: string,
  headers: readonly string[] = UPGRADE_HEADERS,
): Promise<string> {
  const { hostname, port } = new URL(url)
  const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, ...headers, '', '']
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () =>
      socket.end(Buffer.from(lines.join('\r\n'), 'latin1')),
    )
    socket.once('data', (bytes) => {
      resolve(String(bytes))
      socket.destroy()
    })
    socket.once('error', () => resolve(''))
    socket.once('close', () => resolve(''))
  })
}
