/**
 * A proxy between a client, such as the simulated Open WebUI, and the gateway. Passes on every byte, and
 * reports each exchange before the client gets its end.
 */
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Headers } from './record-case.ts'

export interface ProxiedExchange {
  readonly asked: string
  readonly requestHeaders: Headers
  readonly request: string
  readonly status: number
  readonly answerHeaders: Headers
  readonly answer: string
}

export async function startProxy(
  gatewayUrl: string,
  onPassed: (passed: ProxiedExchange) => Promise<void>,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    const pass = async (): Promise<void> => {
      const { method = '', url = '', headers } = incoming
      const body = await textOf(incoming)
      const response = await ask(gatewayUrl + url, { method, headers, body })
      const answer = await textOf(response)
      const status = response.statusCode ?? 0
      await onPassed({
        asked: `${method} ${url}`,
        requestHeaders: headers as Headers,
        request: body,
        status,
        answerHeaders: response.headers as Headers,
        answer,
      })
      const { 'transfer-encoding': _chunked, ...told } = response.headers
      outgoing.writeHead(status, told)
      outgoing.end(answer)
    }
    pass().catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

interface ProxiedRequest {
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

function ask(url: string, { method, headers, body }: ProxiedRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Recordings are text, so compression is turned off.
    const { 'accept-encoding': _packed, ...told } = headers
    const sent = request(url, { method, headers: told, agent: false })
    sent.on('response', resolve)
    sent.on('error', reject)
    sent.end(body)
  })
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
