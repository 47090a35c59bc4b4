/** Names items of a request as the client knows them, for error messages: `messages[3]`, `input`. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { PlannedRequest } from './planned-request.ts'

/**
 * Returns the path of the item at an index of the history followed by the request. If a list entry was
 * parsed into several items, the index is unknown, and the path is the list: `messages`.
 */
export function itemParamPath({ clientRequest, history }: PlannedRequest, at: number): string {
  const { body, items } = clientRequest
  const list = itemListField(clientRequest)
  const index = at - history.items.length
  const entries = body[list]
  const isOneToOne = Array.isArray(entries) && entries.length === items.length
  return isOneToOne && index >= 0 && index < items.length ? `${list}[${index}]` : list
}

/** Returns the name of the request field with the conversation's items. */
export function itemListField({ dialect }: ClientRequest): 'messages' | 'input' {
  return dialect === 'chat' ? 'messages' : 'input'
}
