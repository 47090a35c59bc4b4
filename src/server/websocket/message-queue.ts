/**
 * Queues the messages of a connection: at most 16, whose total size is at most the maximum size of
 * one message. A message beyond these limits is replaced by an error, which the client is sent in
 * the message's place.
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
   * Adds a message. Returns false if 256 errors are waiting in the queue, because such a client
   * does not read its errors.
   */
  readonly add: (message: QueuedMessage) => boolean
  readonly take: () => QueuedMessage | GatewayError | undefined
  readonly clear: () => void
}

const MAX_WAITING = 16
const MAX_REJECTED = 256

export function createMessageQueue(maxBytes: number): MessageQueue {
  const queue: (QueuedMessage | GatewayError)[] = []
  const checkLimits = ({ bytes }: QueuedMessage, waiting: readonly QueuedMessage[]) => {
    if (bytes > maxBytes) return createRequestTooLargeError(maxBytes)
    const totalBytes = waiting.reduce((sum, message) => sum + message.bytes, bytes)
    const fits = waiting.length === 0 || totalBytes <= maxBytes
    return fits && waiting.length < MAX_WAITING ? null : createQueueFullError()
  }
  return {
    add(message) {
      const waiting = queue.filter(isMessage)
      if (queue.length - waiting.length >= MAX_REJECTED) return false
      queue.push(checkLimits(message, waiting) ?? message)
      return true
    },
    take: () => queue.shift(),
    clear: () => void (queue.length = 0),
  }
}

function isMessage(entry: QueuedMessage | GatewayError): entry is QueuedMessage {
  return !(entry instanceof GatewayError)
}

function createQueueFullError(): GatewayError {
  const message = `At most ${MAX_WAITING} requests can wait on a connection, and together they cannot be larger than one. Wait for an answer before you send more.`
  return new GatewayError('rate_limit_exceeded', message)
}
