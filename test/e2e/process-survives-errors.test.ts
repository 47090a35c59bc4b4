/**
 * Neither a programming error that leaves a rejected promise unhandled nor a log that cannot be written stops the
 * process, and with it the answers of other clients.
 */
import { expect, test } from 'vitest'
import { startChild } from '../support/child-gateway.ts'

const LOST = `
import { isMainThread } from 'node:worker_threads'
if (isMainThread) {
  globalThis.loseOne = setInterval(() => void Promise.reject(new Error('lost')), 100)
}`

test('an unhandled rejection does not end the process', async () => {
  const child = await startChild({
    DATABASE_URL: 'sqlite::memory:',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LOST)}`,
  })
  await new Promise((resolve) => setTimeout(resolve, 400))
  const answer = await fetch(`${child.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', input: 'Still there?' }),
  })
  expect(await answer.json()).toMatchObject({ status: 'completed' })
  await child.kill('SIGTERM')
})

test('a log that nobody reads any more does not stop the process', async () => {
  const child = await startChild({
    DATABASE_URL: 'sqlite::memory:',
    UPSTREAMS: JSON.stringify([{ name: 'a', wire: 'chat', baseUrl: 'http://127.0.0.1:1' }]),
  })
  child.closeLog()
  // Each failure of the upstream is logged.
  for (let at = 0; at < 3; at++) {
    const answer = await fetch(`${child.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi!' }] }),
    })
    expect(answer.status).toBe(502)
  }
  await child.kill('SIGTERM')
})
