/** A body that is packed could only be passed on: nobody here reads it. */
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'

/** `encoding` is the header of the request. */
export function rejectEncodedBody(exchange: HttpExchange, encoding: string | null): HttpExchange {
  const said = (encoding ?? '').trim().toLowerCase()
  if (said === '' || said === 'identity') return exchange
  return {
    ...exchange,
    async readBody(limitBytes) {
      // Read all the same, so that the connection can go on.
      await exchange.readBody(limitBytes)
      throw new GatewayError(
        'unsupported_content_encoding',
        `The body of your request is encoded as '${said.slice(0, MAX_CHARS)}'. Send it without a content-encoding.`,
      )
    },
  }
}

const MAX_CHARS = 40
