/**
 * Queues the messages of a connection: at most 16, whose total size is at most the maximum size of
 * one message. A message beyond these limits is replaced by an error, which the client is sent in
 * the message's place.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { RequestMemory } from '../../gateway/request-memory.ts'
import { claimBodyMemory } from '../runtime/claim-body-memory.ts'

export interface QueuedMessage {
  /** The text of the message as UTF-8; null for a binary message. */
  readonly text: Uint8Array | null
  /** Counts the memory of the message and of its answer. */
  readonly memory: RequestMemory
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
  const findWaiting = () => queue.filter(isMessage)
  const checkLimits = (message: QueuedMessage, waiting: readonly QueuedMessage[]): void => {
    const bytes = countBytes(message)
    claimBodyMemory(null, maxBytes, message.memory.claim)(bytes)
    const totalBytes = waiting.reduce((sum, earlier) => sum + countBytes(earlier), bytes)
    const fits = waiting.length === 0 || totalBytes <= maxBytes
    if (!fits || waiting.length >= MAX_WAITING) throw createQueueFullError()
  }
  return {
    add(message) {
      const waiting = findWaiting()
      if (queue.length - waiting.length >= MAX_REJECTED) return false
      try {
        checkLimits(message, waiting)
        queue.push(message)
      } catch (error) {
        message.memory.close()
        queue.push(error as GatewayError)
      }
      return true
    },
    take: () => queue.shift(),
    clear() {
      for (const { memory } of findWaiting()) memory.close()
      queue.length = 0
    },
  }
}

function countBytes({ text }: QueuedMessage): number {
  return text?.length ?? 0
}

function isMessage(entry: QueuedMessage | GatewayError): entry is QueuedMessage {
  return !(entry instanceof GatewayError)
}

function createQueueFullError(): GatewayError {
  const message = `At most ${MAX_WAITING} requests can wait on a connection, and together they cannot be larger than one. Wait for an answer before you send more.`
  return new GatewayError('rate_limit_exceeded', message)
}
