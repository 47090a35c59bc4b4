/** Requests that clients commonly send do not log an error. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream(answerJson(404, { error: { message: 'No.' } }))
  const account = { name: 'a', wire: 'chat', baseUrl: upstream.url, models: ['m'] }
  gateway = await startGateway({ UPSTREAMS: JSON.stringify([account]) })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

test.each(['/v1/embeddings', '/v1/models', '/v1/nowhere', '/healthz'])(
  'a HEAD request to %s logs nothing',
  async (path) => {
    const complained = vi.spyOn(console, 'error')
    const { status } = await fetch(gateway.url + path, { method: 'HEAD' })
    expect(status).toBeLessThan(500)
    // Errors are logged after the answer.
    await (await fetch(`${gateway.url}/healthz`)).text()
    expect(complained.mock.calls).toEqual([])
    expect(gateway.log).toEqual([])
    complained.mockRestore()
  },
)

test('a client that closes the connection within its request causes no log line', async () => {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    'POST /v1/responses HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"mod',
  )
  await (await fetch(`${gateway.url}/healthz`)).text()
  socket.destroy()
  await once(socket, 'close')
  await (await fetch(`${gateway.url}/healthz`)).text()
  expect(gateway.log).toEqual([])
})

test('a HEAD request for the stream of a background response gets its headers, and logs nothing', async () => {
  const complained = vi.spyOn(console, 'error')
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'm', input: 'hello', background: true })
  const created = await fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers, body })
  const { id } = (await created.json()) as { readonly id: string }
  const url = `${gateway.url}/v1/responses/${id}?stream=true`
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ])
  expect(await (await fetch(url)).text()).toContain('response.created')
  expect(complained.mock.calls).toEqual([])
  complained.mockRestore()
})
