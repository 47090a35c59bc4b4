/**
 * A programming error that leaves a rejected promise unhandled does not end the process, and with it the
 * answers of other clients.
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
