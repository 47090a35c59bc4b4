/**
 * Serves one message of a WebSocket like a request to `POST /v1/responses`, and writes its answer or
 * its error as messages.
 */
import type { Caller } from '../../core/client/caller.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { parseRequestAndBackstoryFields } from '../../dialects/context-policy/parse-request-and-backstory-fields.ts'
import { rejectLowOutputLimit } from '../../dialects/responses/parse/reject-low-output-limit.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import { answerRequest, createAnswerIdentity } from '../../gateway/answer-request.ts'
import { logWithRequestId, REQUEST_ID_HEADER } from '../../gateway/request-id.ts'
import { requestId } from '../../core/turn-derived-ids.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import type { ClientWebSocket } from '../../gateway/client-websocket-interface.ts'
import {
  createWebSocketHttpExchange,
  type WebSocketHttpExchange,
} from './websocket-http-exchange.ts'
import { releaseMemoryAtEnd, type TrackedExchange } from '../release-memory-at-end.ts'
import type { QueuedMessage } from './message-queue.ts'
import { convertToRequestBody, readStreamId, readClientMessage } from './read-client-message.ts'
import type { UnstoredAnswerCache, StreamAnswerCache } from './unstored-answer-cache.ts'

export interface WebSocketConnection extends Pick<
  HttpExchange,
  'isLocal' | 'waitUntil' | 'runLater'
> {
  readonly socket: ClientWebSocket
  readonly cache: UnstoredAnswerCache
  readonly caller: Caller
  readonly ports: GatewayDependencies
}

/**
 * Serves a message. Resolves when the answer has ended, and never rejects. `onStart` is called with
 * the exchange of the answer.
 */
export async function serveClientMessage(
  message: QueuedMessage | GatewayError,
  connection: WebSocketConnection,
  onStart: (started: WebSocketHttpExchange) => void,
): Promise<void> {
  const { socket, cache, caller } = connection
  const identity = createAnswerIdentity(connection.ports)
  const ports = logWithRequestId(connection.ports, identity.turnId)
  let streamId: string | null = null
  let stream: StreamAnswerCache | null = null
  let previousId: string | null = null
  let tracked: TrackedExchange | null = null
  try {
    if (message instanceof GatewayError) throw message
    const { memory } = message
    const request = await readClientMessage(message.text, { memory, settings: ports.settings })
    streamId = readStreamId(request)
    const body = convertToRequestBody(request)
    stream = cache.openStream(streamId)
    previousId = readPreviousId(body)
    const clientRequest = parseRequestAndBackstoryFields(responsesDialect, body)
    rejectLowOutputLimit(clientRequest)
    const started = createWebSocketHttpExchange(socket, streamId, connection)
    onStart(started)
    const { store: turnStore, recordForConnection } = stream
    tracked = releaseMemoryAtEnd(started.exchange, memory)
    await answerRequest(
      {
        dialect: responsesDialect,
        clientRequest,
        identity,
        caller,
        exchange: tracked.exchange,
        memory,
        turnStore,
        recordForConnection,
      },
      ports,
    )
    await started.whenEnded
  } catch (error) {
    stream?.evict(previousId)
    const converted = convertUnexpectedError(error, ports.log)
    const headers = { ...converted.headers, [REQUEST_ID_HEADER]: requestId(identity.turnId) }
    sendErrorMessage(socket, { failure: converted.failure, headers }, streamId)
  } finally {
    if (tracked !== null) tracked.onHandled()
    else if (!(message instanceof GatewayError)) message.memory.close()
  }
}

function readPreviousId({ previous_response_id: id }: JsonObject): string | null {
  return typeof id === 'string' ? id : null
}

export function sendErrorMessage(
  socket: ClientWebSocket,
  { failure, headers }: Pick<GatewayError, 'failure' | 'headers'>,
  streamId: string | null = null,
): void {
  const { status, type, code, message, param } = failure
  const { connection: _httpOnly, ...sentHeaders } = headers
  const error = { type, code: code ?? type, message, param }
  const more = Object.keys(sentHeaders).length > 0 ? { headers: sentHeaders } : {}
  const stream = streamId === null ? {} : { stream_id: streamId }
  socket.send(JSON.stringify({ type: 'error', ...stream, status, error: { ...error, ...more } }))
}
