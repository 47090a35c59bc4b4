/**
 * Messages that wait for their turn. There are few of them, and all together they are no larger than
 * one may be. What is too much is told so, when its turn comes.
 */
import { createRequestTooLargeError } from '../runtime/request-too-large-error.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

export interface QueuedMessage {
  /** `null` for a message that is no text. */
  readonly text: string | null
  readonly bytes: number
}

export interface MessageQueue {
  /** `false` when a client has been refused so often that it cannot be listening. */
  readonly add: (message: QueuedMessage) => boolean
  readonly take: () => QueuedMessage | GatewayError | undefined
  readonly clear: () => void
}

const MAX_WAITING = 16
const MAX_REFUSED = 256

export function createMessageQueue(maxBytes: number): MessageQueue {
  const line: (QueuedMessage | GatewayError)[] = []
  let bytes = 0
  let messages = 0
  const refusalOf = (message: QueuedMessage): GatewayError | null => {
    if (message.bytes > maxBytes) return createRequestTooLargeError(maxBytes)
    const fits = messages === 0 || bytes + message.bytes <= maxBytes
    return fits && messages < MAX_WAITING ? null : tooMany()
  }
  return {
    add(message) {
      if (line.length - messages >= MAX_REFUSED) return false
      const refusal = refusalOf(message)
      line.push(refusal ?? message)
      if (refusal === null) {
        bytes += message.bytes
        messages += 1
      }
      return true
    },
    take() {
      const one = line.shift()
      if (one !== undefined && !(one instanceof GatewayError)) {
        bytes -= one.bytes
        messages -= 1
      }
      return one
    },
    clear() {
      line.length = 0
      bytes = 0
      messages = 0
    },
  }
}

function tooMany(): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `At most ${MAX_WAITING} requests can wait on a connection, and together they cannot be larger than one. Wait for an answer before you send more.`,
  )
}
