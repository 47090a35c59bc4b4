/** Implements HttpExchange for one request on a WebSocket: its answer is written as WebSocket messages. */
import type { ClientStream, HttpExchange } from '../../gateway/http-exchange-interface.ts'
import type { ClientWebSocket } from '../../gateway/client-websocket-interface.ts'
import { createSseToMessageConverter } from './sse-to-websocket-messages.ts'

export interface WebSocketHttpExchange {
  readonly exchange: HttpExchange
  /** Resolves when the answer has ended or the client has disconnected. */
  readonly whenEnded: Promise<void>
  /** Must be called when the connection has been closed. */
  readonly disconnect: () => void
}

export function createWebSocketHttpExchange(
  socket: ClientWebSocket,
  streamId: string | null,
  connection: Pick<HttpExchange, 'isLocal' | 'waitUntil' | 'runLater'>,
): WebSocketHttpExchange {
  const { promise: whenEnded, resolve } = Promise.withResolvers<void>()
  const callbacks: (() => void)[] = []
  const convertToMessages = createSseToMessageConverter(streamId)
  let isDisconnected = false
  let isEnded = false

  const onDisconnect = (callback: () => void): void => {
    if (isDisconnected) callback()
    else callbacks.push(callback)
  }
  /** The JSON of the answer's headers for its first message; empty if the message has none. */
  let headersField = ''
  const send = (message: string): boolean => {
    const sent = headersField === '' ? message : `${message.slice(0, -1)}${headersField}}`
    headersField = ''
    return socket.send(sent)
  }
  const write = (written: string | Uint8Array): boolean => {
    let hasRoom = true
    if (!isEnded) for (const message of convertToMessages(written)) hasRoom = send(message)
    return hasRoom
  }
  const end = (text: string): void => {
    write(text)
    isEnded = true
    resolve()
  }
  const client: ClientStream = {
    write,
    end,
    abort: () => end(''),
    onDrain: socket.onDrain,
    onDisconnect,
    isDisconnected: () => isDisconnected,
  }
  return {
    whenEnded,
    disconnect() {
      if (isEnded || isDisconnected) return
      isDisconnected = true
      for (const callback of callbacks) callback()
      resolve()
    },
    exchange: {
      ...connection,
      startedAtMs: performance.now(),
      readBody: () => Promise.resolve(new Uint8Array(0)),
      onDisconnect,
      // Called after `whenEnded`. A client that does not read pauses its answer, so only little of it is unsent.
      onSent: (callback) => callback(),
      startStream(_status, headers, run) {
        headersField = formatHeadersField(headers)
        run(client)
        return new Response(null)
      },
    },
  }
}

/**
 * Formats the headers that report about the request, e.g. `x-backstory-dropped`, as a field `headers` like that of
 * error messages, because a message has no HTTP headers. Returns `''` if there are none.
 */
function formatHeadersField(headers: Readonly<Record<string, string>>): string {
  const reports = Object.entries(headers).filter(([name]) => name.startsWith('x-backstory-'))
  return reports.length === 0 ? '' : `,"headers":${JSON.stringify(Object.fromEntries(reports))}`
}
