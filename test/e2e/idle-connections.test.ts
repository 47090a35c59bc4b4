/**
 * Keep-alive: the gateway keeps idle connections open longer than clients and proxies do (about a minute), so
 * that none sends a request into a closed connection.
 */
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

test('an idle connection stays open for over a minute, and its timeout is announced', async () => {
  const { url, close } = await startGateway()
  try {
    const result = await new Promise<string | undefined>((resolve, reject) => {
      request(`${url}/v1/models`, (response) => {
        response.resume()
        resolve(String(response.headers['keep-alive']))
      })
        .on('error', reject)
        .end()
    })
    const [, seconds = '0'] = /^timeout=(\d+)$/.exec(result ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThan(60)
  } finally {
    await close()
  }
})
