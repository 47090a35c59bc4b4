/**
 * Requests on Workers share no state: the code of a request whose client has left may never run to its
 * end there, so nothing that it holds is released, and nothing that waits for it is told of its end.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'
import { startWorker, type Host } from './hosts.ts'

let upstream: Upstream
let host: Host
beforeAll(async () => {
  upstream = await startUpstream((response, received) => {
    if (received.json['model'] === 'slow')
      setTimeout(() => void answerJson(200, CHAT_ANSWER)(response, received), 1000)
  })
  host = await startWorker({
    // Room for one request of 2 MB and none besides it, and too little for one of 3 MB.
    REQUEST_MEMORY_MB: '14',
    REQUEST_TIMEOUT_SECONDS: '2',
    UPSTREAMS: JSON.stringify([
      { name: 'a', wire: 'chat', baseUrl: upstream.url, models: ['m', 'slow'] },
    ]),
  })
})
afterAll(async () => {
  await host.close()
  await upstream.close()
})

const CHAT_ANSWER = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'slow',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } }],
}

function post(megabytes: number, signal: AbortSignal | null = null) {
  const messages = [{ role: 'user', content: 'x'.repeat(megabytes * 1_000_000) }]
  return fetch(`${host.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages }),
    signal,
  })
}

test('large requests whose clients have left take no memory from others (C158)', async () => {
  for (let count = 1; count <= 4; count += 1) {
    const leave = new AbortController()
    const left = post(2, leave.signal).catch(() => null)
    await expect.poll(() => upstream.received.length).toBe(count)
    leave.abort()
    await left
  }
  expect((await post(2)).status).toBe(504)
})

test('a request that is too large alone gets 503 (C158)', async () => {
  const response = await post(3)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ error: { code: 'overloaded' } })
})

test('a request with an Idempotency-Key waits for the database, not for the first request (C155)', async () => {
  const send = () =>
    fetch(`${host.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'a' },
      body: JSON.stringify({ model: 'slow', input: 'x', store: false }),
    })
  const before = upstream.received.length
  const first = send()
  await expect.poll(() => upstream.received.length).toBe(before + 1)
  const second = await send()
  expect((await first).status).toBe(200)
  expect(second.status).toBe(409)
  expect(await second.json()).toMatchObject({ error: { code: 'idempotent_answer_not_available' } })
  expect(upstream.received).toHaveLength(before + 1)
})
