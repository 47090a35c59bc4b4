/**
 * A fake upstream, the only fake in the tests: a real HTTP server on a free port with configurable behavior,
 * which records the requests that it received.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tryParseJsonObject } from '../../src/core/json/json.ts'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: Record<string, unknown>
  /** Resolves when the gateway closes this request before its answer is complete. */
  readonly aborted: Promise<number>
}

/** The requests to any upstream of this test file, even if a test clears an upstream's own list. */
export const allReceivedRequests: RequestRecord[] = []

export type RequestRecord = Pick<Received, 'path' | 'text'>

export type Behaviour = (response: ServerResponse, received: Received) => void | Promise<void>

export interface Upstream {
  readonly url: string
  readonly received: Received[]
  behave: Behaviour
  readonly close: () => Promise<void>
}

export async function startUpstream(behave: Behaviour = answerJson(200, {})): Promise<Upstream> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const aborted = new Promise<number>((resolve) =>
        response.once('close', () => {
          if (!response.writableFinished) resolve(performance.now())
        }),
      )
      const entry: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        text,
        json: { ...tryParseJsonObject(text) },
        aborted,
      }
      received.push(entry)
      allReceivedRequests.push({ path: entry.path, text })
      void upstream.behave(response, entry)
    })
  })
  // Otherwise it may close an idle connection at the moment when a gateway uses it again.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const upstream: Upstream = {
    url: `http://127.0.0.1:${port}/v1`,
    received,
    behave,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return upstream
}

export function answerJson(status: number, body: unknown, headers = {}): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** Sends the pieces one by one; `ending` is how the connection ends. */
export function answerSse(
  pieces: readonly (string | Uint8Array)[],
  ending: 'end' | 'reset' | 'hang' = 'end',
  gapMs = 0,
): Behaviour {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    for (const piece of pieces) {
      if (response.destroyed) return
      response.write(piece)
      await new Promise((resolve) => setTimeout(resolve, gapMs))
    }
    if (ending === 'end') response.end()
    if (ending === 'reset') response.destroy()
  }
}
