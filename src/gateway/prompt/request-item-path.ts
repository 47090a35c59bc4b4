/** Returns the paths of items in the client's request for error messages, e.g. `messages[3]` or `input`. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { PlannedRequest } from './planned-request.ts'

/**
 * Returns the path of the item at `index`, which counts the items of the history too. If the parser made
 * several items of one list entry, the entry is unknown, and the path is that of the list, e.g. `messages`.
 */
export function formatItemPath({ clientRequest, history }: PlannedRequest, index: number): string {
  const { body, items } = clientRequest
  const list = getItemListField(clientRequest)
  const position = index - history.items.length
  const entries = body[list]
  const isOneToOne = Array.isArray(entries) && entries.length === items.length
  const isInRequest = position >= 0 && position < items.length
  return isOneToOne && isInRequest ? `${list}[${position}]` : list
}

/** Returns the name of the request field that lists the items. */
export function getItemListField({ dialect }: ClientRequest): 'messages' | 'input' {
  return dialect === 'chat' ? 'messages' : 'input'
}
