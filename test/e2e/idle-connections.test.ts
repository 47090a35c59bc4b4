/** Whoever keeps a connection for the next request must not find it closed: proxies keep theirs for a minute. */
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

test('a connection is kept for longer than anybody else keeps it, and its client is told how long', async () => {
  const { url, close } = await startGateway()
  try {
    const told = await new Promise<string | undefined>((resolve, reject) => {
      request(`${url}/v1/models`, (response) => {
        response.resume()
        resolve(String(response.headers['keep-alive']))
      })
        .on('error', reject)
        .end()
    })
    const [, seconds = '0'] = /^timeout=(\d+)$/.exec(told ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThan(60)
  } finally {
    await close()
  }
})
