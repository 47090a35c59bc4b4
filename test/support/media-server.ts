/** An HTTP server for media with a handler for each path. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Serve = (response: ServerResponse, request: IncomingMessage) => void

export interface MediaServer {
  readonly url: string
  /** Host and port of the server, in the format of the setting `MEDIA_FETCH_ALLOW`. */
  readonly host: string
  readonly requests: IncomingMessage[]
  readonly paths: Map<string, Serve>
  readonly close: () => Promise<void>
}

export async function startMediaServer(): Promise<MediaServer> {
  const asked: IncomingMessage[] = []
  const paths = new Map<string, Serve>()
  const server = createServer((request, response) => {
    asked.push(request)
    const serve = paths.get((request.url ?? '').split('?')[0] ?? '')
    if (serve === undefined) response.writeHead(404).end('There is nothing.')
    else serve(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    requests: asked,
    paths,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

export function serveBytes(body: Uint8Array | string, headers: Record<string, string> = {}): Serve {
  return (response) => response.writeHead(200, headers).end(body)
}

export function redirectTo(location: string, status = 302): Serve {
  return (response) => response.writeHead(status, { location }).end('over there')
}
