/** Returns the paths of items in the client's request for error messages, e.g. `messages[3]` or `input`. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { PlannedRequest } from './planned-request.ts'

/**
 * Returns the path of the item at `index` in the complete list (the history's items, then the request's), e.g.
 * `messages[3]`. Returns only the name of the list if the entry is unknown: for items of the history, and if the
 * parser made several items of one entry.
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
