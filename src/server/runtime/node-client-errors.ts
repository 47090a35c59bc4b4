/**
 * On Node, answers connections whose bytes are not a complete HTTP request, e.g. because the headers arrive too
 * slowly, with an error in the format of OpenAI's API. Node's own answers have no body.
 */
import { STATUS_CODES, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { createErrorBody, GatewayError } from '../../core/errors/gateway-error.ts'
import { requestId } from '../../core/turn-derived-ids.ts'
import { REQUEST_ID_HEADER } from '../../gateway/request-id.ts'

export function answerClientErrors(server: Server, newTurnId: () => string): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Bytes after the beginning of an answer would look like a part of it.
    if (!socket.writable || hasStartedAnswer(socket)) return void socket.destroy()
    socket.end(renderRawError(createError(error.code), newTurnId()), () => socket.destroy())
  })
}

/** Node has no public field for the answer in progress on a socket. Its own error handler reads the same one. */
function hasStartedAnswer(socket: Duplex): boolean {
  const { _httpMessage: answer } = socket as {
    readonly _httpMessage?: { readonly headersSent: boolean } | null
  }
  return answer?.headersSent === true
}

function createError(code: string | undefined): GatewayError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError(
        'request_timeout',
        'The headers of the request took too long. Send it again, or raise HEADER_TIMEOUT_SECONDS.',
      )
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('invalid_value', 'The headers of the request are too long.', {
        status: 431,
      })
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new GatewayError('request_too_large', 'The chunk extensions are too long.')
    default:
      return new GatewayError('invalid_value', 'This is not a valid HTTP/1.1 request.')
  }
}

function renderRawError({ failure }: GatewayError, turnId: string): string {
  const body = JSON.stringify(createErrorBody(failure))
  return [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `${REQUEST_ID_HEADER}: ${requestId(turnId)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
