/**
 * Wraps the exchange of a request so that its answer continues when the client disconnects: a retry with the same
 * `Idempotency-Key` receives it. The client gets the answer as usual while it is connected.
 */
import type { ClientStream, HttpExchange } from '../../gateway/http-exchange-interface.ts'

export function outliveClient(exchange: HttpExchange): HttpExchange {
  return {
    ...exchange,
    onDisconnect: () => undefined,
    startStream: (status, headers, run) =>
      exchange.startStream(status, headers, (client) => run(hideDisconnect(client))),
  }
}

function hideDisconnect(client: ClientStream): ClientStream {
  let onDrain = (): void => undefined
  // If the upstream was paused because the client did not read, it continues when the client disconnects.
  client.onDisconnect(() => onDrain())
  return {
    ...client,
    write: (text) => client.isDisconnected() || client.write(text),
    onDrain(callback) {
      onDrain = callback
      client.onDrain(callback)
    },
    onDisconnect: () => undefined,
    isDisconnected: () => false,
  }
}
