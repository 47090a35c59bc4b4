/**
 * Finds the message that Open WebUI lets a model continue ("Continue Response"). It sends that message as
 * the last one, and appends the answer to it.
 */
import type { ClientRequest } from '../client-request.ts'
import type { Message } from '../item.ts'

/** Returns the assistant message that the answer continues, or `null`. Always `null` for other clients. */
export function findContinuedMessage({
  client,
  items,
  originalItems = items,
}: ClientRequest): Message | null {
  const last = originalItems.at(-1)
  return client.isOpenWebUi && last?.type === 'message' && last.role === 'assistant' ? last : null
}
