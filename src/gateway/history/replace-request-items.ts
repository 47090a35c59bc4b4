/** Replaces the items of a request, and keeps those that the client sent as `originalItems`. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Item } from '../../core/item.ts'

/** Returns the same request if the items are the same list. */
export function replaceRequestItems(request: ClientRequest, items: readonly Item[]): ClientRequest {
  if (items === request.items) return request
  return { ...request, items, originalItems: request.originalItems ?? request.items }
}
