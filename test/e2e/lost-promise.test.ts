/** A mistake in one place of the gateway, of which nobody hears, ends nobody else's answer. */
import { expect, test } from 'vitest'
import { startChild } from '../support/child-gateway.ts'

const LOST = `
import { isMainThread } from 'node:worker_threads'
if (isMainThread) {
  globalThis.loseOne = setInterval(() => void Promise.reject(new Error('lost')), 100)
}`

test('a promise that nobody waits for does not end the process', async () => {
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
