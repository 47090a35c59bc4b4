/**
 * One turn on a connection: a message goes the way of a request to `POST /v1/responses`, and its
 * answer comes as frames. What goes wrong is told to the client.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { parseRequestWithOverrides } from '../../dialects/context-policy/parse-request-with-overrides.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import type { ClientWebSocket } from '../../gateway/websocket-interface.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { answerRequest } from '../../gateway/answer-request.ts'
import { convertUnexpectedError } from '../../core/errors/convert-unexpected-error.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { UnstoredAnswerCache, StreamAnswerCache } from './unstored-answer-cache.ts'
import { createFrameHttpExchange, type FrameHttpExchange } from './frame-http-exchange.ts'
import { readRequestBody, readStreamId, readFrame } from './read-frame.ts'
import { sendErrorFrame } from './send-error-frame.ts'
import type { QueuedMessage } from './message-queue.ts'

export interface ConnectionContext extends Pick<HttpExchange, 'isLocal' | 'waitUntil'> {
  readonly socket: ClientWebSocket
  readonly memory: UnstoredAnswerCache
  readonly caller: Caller
  readonly world: GatewayDependencies
  /** Whether the client speaks the beta of this protocol. */
  readonly isBeta: boolean
}

/** Resolves when the turn is over, and never rejects. */
export async function serveClientMessage(
  message: QueuedMessage | GatewayError,
  turning: ConnectionContext,
  onBegin: (begun: FrameHttpExchange) => void,
): Promise<void> {
  const { socket, memory, caller, world, isBeta } = turning
  let streamId: string | null = null
  let lane: StreamAnswerCache | null = null
  let previous: string | null = null
  try {
    if (message instanceof GatewayError) throw message
    const frame = readFrame(message.text)
    streamId = readStreamId(frame)
    const body = readRequestBody(frame, isBeta)
    lane = memory.lane(streamId)
    previous = previousOf(body)
    const clientRequest = parseRequestWithOverrides(responsesDialect, body)
    const begun = createFrameHttpExchange(socket, streamId, turning)
    onBegin(begun)
    const { store: turnStore, recordForConnection } = lane
    const { exchange } = begun
    await answerRequest(
      {
        dialect: responsesDialect,
        clientRequest,
        caller,
        exchange,
        turnStore,
        recordForConnection,
      },
      world,
    )
    await begun.whenOver
  } catch (error) {
    lane?.evict(previous)
    sendErrorFrame(socket, convertUnexpectedError(error, world.log), streamId)
  }
}

function previousOf({ previous_response_id: id }: JsonObject): string | null {
  return typeof id === 'string' ? id : null
}
