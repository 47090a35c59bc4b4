/** Replaces the items of a request, and retains those that the client sent as `originalItems` of the request. */
import type { ClientRequest } from '../../core/client-request.ts'
import type { Item } from '../../core/item.ts'

/** Returns the same request object if `items` is already its list. */
export function replaceRequestItems(request: ClientRequest, items: readonly Item[]): ClientRequest {
  if (items === request.items) return request
  return { ...request, items, originalItems: request.originalItems ?? request.items }
}
