/**
 * One turn on a connection: a message goes the way of a request to `POST /v1/responses`, and its
 * answer comes as frames. What goes wrong is told to the client.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { parseWished } from '../../dialects/context-policy/parse-request-with-overrides.ts'
import { responses } from '../../dialects/responses/responses-dialect.ts'
import type { Exchange } from '../../gateway/http-exchange-interface.ts'
import type { Socket } from '../../gateway/websocket-interface.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { answer } from '../../gateway/answer-request.ts'
import { asGatewayError } from '../../core/errors/convert-unexpected-error.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import type { ConnectionMemory, LaneMemory } from './unstored-answer-cache.ts'
import { frameExchange, type FrameExchange } from './frame-http-exchange.ts'
import { bodyOf, laneOf, readFrame } from './read-frame.ts'
import { tellError } from './send-error-frame.ts'
import type { Message } from './message-queue.ts'

export interface Turning extends Pick<Exchange, 'isLocal' | 'waitUntil'> {
  readonly socket: Socket
  readonly memory: ConnectionMemory
  readonly caller: Caller
  readonly world: World
  /** Whether the client speaks the beta of this protocol. */
  readonly isBeta: boolean
}

/** Resolves when the turn is over, and never rejects. */
export async function takeTurn(
  message: Message | GatewayError,
  turning: Turning,
  onBegin: (begun: FrameExchange) => void,
): Promise<void> {
  const { socket, memory, caller, world, isBeta } = turning
  let streamId: string | null = null
  let lane: LaneMemory | null = null
  let previous: string | null = null
  try {
    if (message instanceof GatewayError) throw message
    const frame = readFrame(message.text)
    streamId = laneOf(frame)
    const body = bodyOf(frame, isBeta)
    lane = memory.lane(streamId)
    previous = previousOf(body)
    const inbound = parseWished(responses, body)
    const begun = frameExchange(socket, streamId, turning)
    onBegin(begun)
    const { store, aside } = lane
    await answer(responses, inbound, caller, { ...world, store, aside }, begun.exchange)
    await begun.whenOver
  } catch (error) {
    lane?.evict(previous)
    tellError(socket, asGatewayError(error, world.log), streamId)
  }
}

function previousOf({ previous_response_id: id }: JsonObject): string | null {
  return typeof id === 'string' ? id : null
}
