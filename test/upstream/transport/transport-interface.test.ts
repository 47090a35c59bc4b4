import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Failure } from '../../../src/core/stream-event.ts'
import { createFetchTransport } from '../../../src/upstream/transport/fetch-transport.ts'
import { createBodySource, readBody } from '../../../src/upstream/transport/read-complete-reply.ts'
import {
  MaybeProcessedError,
  type UpstreamCall,
  type Transport,
} from '../../../src/upstream/transport/transport-interface.ts'
import { createUndiciTransport } from '../../../src/upstream/transport/undici-transport.ts'
import { answerJson, answerSse, startUpstream, type Upstream } from '../../support/upstream.ts'

const timeouts = { headersMs: 400, idleMs: 400 }
const undici = createUndiciTransport(timeouts)
let upstream: Upstream
beforeAll(async () => void (upstream = await startUpstream()))
afterAll(async () => {
  await undici.close()
  await upstream.close()
})

function readReply(call: UpstreamCall): Promise<{ text: string; failure: Failure | null }> {
  return call.reply.then(
    (reply) =>
      new Promise((resolve) => {
        let text = ''
        reply.flow({
          chunk: (bytes) => (text += new TextDecoder().decode(bytes)),
          end: () => resolve({ text, failure: null }),
          failed: (failure) => resolve({ text, failure }),
        })
      }),
  )
}

const transports: readonly [string, Transport][] = [
  ['undici', undici.transport],
  ['fetch', createFetchTransport(timeouts)],
]

describe.each(transports)('requests to an upstream over the %s transport', (_, transport) => {
  const post = (path = '/x'): UpstreamCall =>
    transport({
      method: 'POST',
      url: upstream.url + path,
      headers: { 'content-type': 'application/json', 'x-mine': '1' },
      body: '{"a":"ü"}',
    })

  test('a transport sends an upstream request and returns the status, headers and body of the reply', async () => {
    upstream.behave = answerJson(418, { tea: true }, { 'retry-after': '7' })
    const call = post()
    const reply = await call.reply
    expect(reply.status).toBe(418)
    expect(reply.headers['retry-after']).toBe('7')
    expect(new TextDecoder().decode(await readBody(createBodySource(call, reply), 1000))).toBe(
      '{"tea":true}',
    )
    expect(upstream.received.at(-1)).toMatchObject({
      method: 'POST',
      path: '/v1/x',
      text: '{"a":"ü"}',
      headers: { 'x-mine': '1' },
    })
  })

  test('a transport buffers the body of a reply until it is read', async () => {
    upstream.behave = answerSse(['one ', 'two'])
    const call = post()
    await call.reply
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await readReply(call)).toEqual({ text: 'one two', failure: null })
  })

  test('a transport reports a failure if the connection breaks in the middle of the body', async () => {
    upstream.behave = answerSse(['one'], 'reset', 10)
    expect(await readReply(post())).toMatchObject({
      text: 'one',
      failure: { code: 'upstream_broken' },
    })
  })

  test('a transport reports a timeout if the upstream stops in the middle of the body', async () => {
    upstream.behave = answerSse(['one'], 'hang')
    expect(await readReply(post())).toMatchObject({
      text: 'one',
      failure: { code: 'upstream_timeout' },
    })
  })

  test('a transport reports a timeout if no headers arrive from the upstream', async () => {
    upstream.behave = () => undefined
    await expect(post().reply).rejects.toMatchObject({
      failure: { code: 'upstream_timeout', status: 504 },
    })
  })

  test('a transport reports an upstream that it cannot reach', async () => {
    const call = transport({ method: 'GET', url: 'http://127.0.0.1:9/', headers: {}, body: null })
    await expect(call.reply).rejects.toMatchObject({
      failure: { code: 'upstream_unreachable', status: 502 },
    })
  })

  test('a transport can cancel an upstream request both before and after the headers of the reply arrive', async () => {
    upstream.behave = answerSse(['one'], 'hang')
    const call = post()
    const body = readReply(call)
    await call.reply
    call.cancel()
    await upstream.received.at(-1)?.aborted
    expect((await body).failure).not.toBeNull()

    upstream.behave = () => undefined
    const early = post()
    const rejected = expect(early.reply).rejects.toThrow(MaybeProcessedError)
    await new Promise((resolve) => setTimeout(resolve, 50))
    early.cancel()
    await rejected
    await upstream.received.at(-1)?.aborted
  })

  test('a transport that is paused stops the upstream from sending, and loses no data', async () => {
    const piece = 'x'.repeat(64 * 1024)
    let written = 0
    upstream.behave = async (response) => {
      response.writeHead(200)
      for (; written < 400; written++) {
        if (!response.write(piece)) {
          await new Promise((resolve) => response.once('drain', resolve))
        }
      }
      response.end()
    }
    const reply = await post().reply
    const received = await new Promise<{ early: number; all: number }>((resolve) => {
      let all = 0
      let early = 0
      const flow = reply.flow({
        chunk(bytes) {
          if (all === 0) {
            flow.pause()
            setTimeout(() => {
              early = all
              flow.resume()
            }, 150)
          }
          all += bytes.length
        },
        end: () => resolve({ early, all }),
        failed: () => resolve({ early, all: -1 }),
      })
    })
    expect(received.all).toBe(400 * piece.length)
    expect(received.early).toBeLessThan(received.all / 4)
  })

  test('a transport reports a failure if the request is cancelled while the body is paused', async () => {
    upstream.behave = answerSse(
      Array.from({ length: 50 }, (_, index) => `${index} `.repeat(5000)),
      'hang',
    )
    const call = post()
    const reply = await call.reply
    const failure = await new Promise<Failure | 'end'>((resolve) => {
      const flow = reply.flow({
        chunk() {
          flow.pause()
          setTimeout(call.cancel, 20)
        },
        end: () => resolve('end'),
        failed: resolve,
      })
    })
    expect(failure).toMatchObject({ code: 'upstream_broken' })
  })

  test('a transport either keeps the content-encoding header, or decompresses the body and removes the header', async () => {
    const compressed = gzipSync('{"tea":true}')
    upstream.behave = (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': compressed.length })
      response.end(compressed)
    }
    const call = post()
    const reply = await call.reply
    const bytes = await readBody(createBodySource(call, reply), 1000)
    const isCompressed = reply.headers['content-encoding'] === 'gzip'
    expect(Buffer.from(bytes)).toEqual(isCompressed ? compressed : Buffer.from('{"tea":true}'))
    expect(reply.headers['content-length']).toBe(
      isCompressed ? String(compressed.length) : undefined,
    )
  })

  test('reading the body of a reply stops with an error when it is larger than its limit', async () => {
    upstream.behave = answerJson(200, 'x'.repeat(100_000))
    const call = post()
    const reply = await call.reply
    await expect(readBody(createBodySource(call, reply), 1000)).rejects.toThrow('over 1000 bytes')
  })
})

test('a request that is cancelled before it is sent was certainly not processed', async () => {
  const before = upstream.received.length
  const call = undici.transport({ method: 'POST', url: `${upstream.url}/x`, headers: {}, body: '' })
  call.cancel()
  const error: unknown = await call.reply.catch((rejected: unknown) => rejected)
  expect(error).toMatchObject({ failure: { status: 499 } })
  expect(error).not.toBeInstanceOf(MaybeProcessedError)
  expect(upstream.received).toHaveLength(before)
})

describe('upstream errors for which the advice to check the address would be wrong', () => {
  const post = (headers: Record<string, string> = {}): UpstreamCall =>
    undici.transport({ method: 'POST', url: `${upstream.url}/x`, headers, body: '{}' })

  test('the error about an upstream answer with too many headers names the headers', async () => {
    upstream.behave = answerJson(200, {}, { 'x-much': 'x'.repeat(30_000) })
    await expect(post().reply).rejects.toMatchObject({
      failure: {
        code: 'upstream_broken',
        status: 502,
        message: expect.stringMatching(/more than 16 KB of headers/) as string,
      },
    })
  })

  test('the error about a request that HTTP does not allow names the request', async () => {
    await expect(post({ 'x-a': 'line\nbreak' }).reply).rejects.toMatchObject({
      failure: {
        code: 'upstream_broken',
        status: 502,
        message: expect.stringMatching(/cannot be sent.*not allowed in HTTP/) as string,
      },
    })
  })
})
