/**
 * Replaces references such as `{"type": "item_reference", "id": "msg_…"}` by the stored items, because an
 * upstream does not know the gateway's ids. One query finds all referenced items.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Item } from '../../core/item.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { createNotFoundError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import { replaceRequestItems } from './replace-request-items.ts'
import type { Ports } from '../dependencies-interface.ts'

/** Returns the same request object if it has no references. */
export async function resolveItemReferences(
  clientRequest: ClientRequest,
  caller: Caller,
  ports: Ports<'archive'>,
): Promise<ClientRequest> {
  const items = await resolveReferencedItems(clientRequest.items, caller, ports)
  return replaceRequestItems(clientRequest, items)
}

/** Returns the same list object if it has no references. Throws a GatewayError if a referenced item is not found. */
export async function resolveReferencedItems(
  items: readonly Item[],
  caller: Caller,
  { archive }: Ports<'archive'>,
): Promise<readonly Item[]> {
  const ids = items.map(readReferenceId).filter((id) => id !== null)
  if (ids.length === 0) return items
  const found = await queryStoreOrThrow(() => archive.findItems(caller, ids))
  return items.map((item) => {
    const id = readReferenceId(item)
    if (id === null) return item
    const target = found.get(id)
    if (target === undefined) throw createItemNotFoundError(id)
    return target
  })
}

function readReferenceId(item: Item): string | null {
  if (item.type !== 'opaque' || item.raw['type'] !== 'item_reference') return null
  const { id } = item.raw
  return typeof id === 'string' ? id : ''
}

function createItemNotFoundError(id: string) {
  return createNotFoundError(
    `Item with id '${id.slice(0, 80)}' not found. A reference must name an item of a stored response or of a conversation; to use any other, send the item itself.`,
    'input',
  )
}
