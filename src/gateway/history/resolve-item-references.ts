/**
 * Replaces references such as `{"type": "item_reference", "id": "msg_…"}` by the stored items, because an
 * upstream does not know the gateway's ids. One query finds all referenced items. Together they may be as large as a
 * request body, and count as often as they are repeated.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import type { Item } from '../../core/item.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { createNotFoundError, GatewayError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import { replaceRequestItems } from './replace-request-items.ts'
import type { Ports } from '../dependencies-interface.ts'

/** Returns the same request object if it has no references. */
export async function resolveItemReferences(
  clientRequest: ClientRequest,
  caller: Caller,
  ports: Ports<'archive' | 'settings'>,
): Promise<ClientRequest> {
  const items = await resolveReferencedItems(clientRequest.items, caller, ports)
  return replaceRequestItems(clientRequest, items)
}

/** Returns the same list object if it has no references. Throws a GatewayError if a referenced item is not found, or the items are too large. */
export async function resolveReferencedItems(
  items: readonly Item[],
  caller: Caller,
  { archive, settings }: Ports<'archive' | 'settings'>,
): Promise<readonly Item[]> {
  const ids = items.map(readReferenceId).filter((id) => id !== null)
  if (ids.length === 0) return items
  const limitSize = createSizeLimit(settings.MAX_BODY_MB)
  const found = await queryStoreOrThrow(() => archive.findItems(caller, ids, limitSize))
  return items.map((item) => {
    const id = readReferenceId(item)
    if (id === null) return item
    const target = found.get(id)
    if (target === undefined) throw createItemNotFoundError(id)
    return target
  })
}

/** Returns a function that takes the sizes of found items, and throws if their sum exceeds the limit. */
function createSizeLimit(megabytes: number): ClaimMemory {
  let total = 0
  return ({ bytes }) => {
    total += bytes
    if (total > megabytes * 1024 * 1024) throw createItemsTooLargeError(megabytes)
  }
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

function createItemsTooLargeError(megabytes: number): GatewayError {
  return new GatewayError(
    'request_too_large',
    `The items that the references in \`input\` name are larger than ${megabytes} MB together. A repeated reference counts each time. Send fewer references, or raise MAX_BODY_MB.`,
    { param: 'input' },
  )
}
