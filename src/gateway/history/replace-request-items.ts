/** Replaces the items of a request, and retains the items that the client sent in `originalItems`. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Item } from '../../core/item.ts'

/** Returns the request itself if `items` is its own list. */
export function replaceRequestItems(request: ClientRequest, items: readonly Item[]): ClientRequest {
  if (items === request.items) return request
  return { ...request, items, originalItems: request.originalItems ?? request.items }
}
