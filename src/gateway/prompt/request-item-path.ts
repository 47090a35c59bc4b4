/** Names items of a request as the client knows them, for errors: `messages[3]`, `input`. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { PlannedRequest } from './planned-request.ts'

/** Which entry of the list it is can be told only where every entry has made one item. */
export function itemParamPath({ clientRequest, history }: PlannedRequest, at: number): string {
  const { body, items } = clientRequest
  const list = itemListField(clientRequest)
  const place = at - history.items.length
  const entries = body[list]
  const isOneToOne = Array.isArray(entries) && entries.length === items.length
  return isOneToOne && place >= 0 && place < items.length ? `${list}[${place}]` : list
}

/** What a client calls its conversation. */
export function itemListField({ dialect }: ClientRequest): 'messages' | 'input' {
  return dialect === 'chat' ? 'messages' : 'input'
}
