/**
 * Queues the messages of a connection: at most 16, with a total size of at most one maximum
 * message. An error takes the place of a message beyond these limits and is sent to the client when
 * its turn comes.
 */
import { createRequestTooLargeError } from '../runtime/request-too-large-error.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

export interface QueuedMessage {
  /** The text of the message; null for a binary message. */
  readonly text: string | null
  readonly bytes: number
}

export interface MessageQueue {
  /**
   * Adds a message. Returns false after 256 rejected messages, because such a client does not read
   * its errors.
   */
  readonly add: (message: QueuedMessage) => boolean
  readonly take: () => QueuedMessage | GatewayError | undefined
  readonly clear: () => void
}

const MAX_WAITING = 16
const MAX_REJECTED = 256

export function createMessageQueue(maxBytes: number): MessageQueue {
  const queue: (QueuedMessage | GatewayError)[] = []
  let bytes = 0
  let messages = 0
  const checkLimits = (message: QueuedMessage): GatewayError | null => {
    if (message.bytes > maxBytes) return createRequestTooLargeError(maxBytes)
    const fits = messages === 0 || bytes + message.bytes <= maxBytes
    return fits && messages < MAX_WAITING ? null : createQueueFullError()
  }
  return {
    add(message) {
      if (queue.length - messages >= MAX_REJECTED) return false
      const error = checkLimits(message)
      queue.push(error ?? message)
      if (error === null) {
        bytes += message.bytes
        messages += 1
      }
      return true
    },
    take() {
      const next = queue.shift()
      if (next !== undefined && !(next instanceof GatewayError)) {
        bytes -= next.bytes
        messages -= 1
      }
      return next
    },
    clear() {
      queue.length = 0
      bytes = 0
      messages = 0
    },
  }
}

function createQueueFullError(): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `At most ${MAX_WAITING} requests can wait on a connection, and together they cannot be larger than one. Wait for an answer before you send more.`,
  )
}
