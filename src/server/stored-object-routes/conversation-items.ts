/** Routes for the items of a conversation: add, list, read and remove them. */
import type { JsonObject } from '../../core/json/json.ts'
import { createMissingFieldError } from '../../dialects/checks/check-json-types.ts'
import { createNotFoundError } from '../../core/errors/gateway-error.ts'
import {
  createConversationLockedError,
  lockConversation,
  createConversationNotFoundError,
} from '../../gateway/history/lock-conversation.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { convertNewToStoredTurn } from '../convert-new-to-stored-turn.ts'
import { parseAddedItems, createItemOnlyTurn } from './create-item-only-turn.ts'
import { readConversationId, renderConversation } from './conversations.ts'
import {
  findChainItem,
  listAddedItems,
  loadLastTurn,
  renderItemPage,
  type ItemChain,
} from './chain-items.ts'
import type { ListedItem } from './list-turn-items.ts'
import { renderList, readPaging } from './paging.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { readInclude, shortenForError, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const CONVERSATION_ITEM_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'POST', path: '/conversations/:id/items', handle: addItems },
  { method: 'GET', path: '/conversations/:id/items', handle: listItems },
  { method: 'GET', path: '/conversations/:id/items/:item', handle: readItem },
  { method: 'DELETE', path: '/conversations/:id/items/:item', handle: removeItem },
]

type ItemPorts = Ports<'archive' | 'conversations' | 'store'>

async function listItems(request: AuthenticatedRequest, ports: ItemPorts) {
  const paging = readPaging(request.query, 'desc')
  const { chain } = await loadChain(request, ports)
  return renderItemPage(chain, paging, ports)
}

async function readItem(request: AuthenticatedRequest, ports: ItemPorts) {
  const { chain } = await loadChain(request, ports)
  return (await findItem(request, chain, ports)).render()
}

async function removeItem(request: AuthenticatedRequest, ports: ItemPorts) {
  const { chain, conversation } = await loadChain(request, ports)
  const { position } = await findItem(request, chain, ports)
  await ports.conversations.hideItem(request.caller, position)
  return conversation
}

async function addItems(
  request: AuthenticatedRequest,
  ports: Ports<'archive' | 'conversations' | 'log' | 'newTurnId' | 'nowMs' | 'settings' | 'store'>,
) {
  const conversation = readConversationId(request)
  const { caller, query } = request
  const body = await request.readJsonObject()
  if (body['items'] === undefined) throw createMissingFieldError('items')
  const items = await parseAddedItems(body['items'], caller, ports)
  const turnId = ports.newTurnId()
  const lock = await lockConversation(conversation, caller, turnId, ports, null)
  try {
    const head = await loadHead(lock.headTurnId, caller, ports)
    if (items.length === 0) return renderList([], false)
    const turn = createItemOnlyTurn(items, { turnId, conversation, head }, caller, ports)
    if (!(await ports.conversations.appendItems(turn))) throw createConversationLockedError()
    const stored = convertNewToStoredTurn(turn, turn.createdAtMs)
    const chain = { caller, head, lastListedPart: 'answer', include: readInclude(query) } as const
    const added = await listAddedItems(chain, stored, ports)
    const rendered = added.map((item) => item.render())
    return renderList(rendered, false)
  } finally {
    await lock.release()
  }
}

interface ConversationChain {
  readonly conversation: JsonObject
  readonly chain: ItemChain
}

async function loadChain(
  request: AuthenticatedRequest,
  ports: Ports<'archive' | 'conversations'>,
): Promise<ConversationChain> {
  const { caller } = request
  const id = readConversationId(request)
  const conversation = await ports.conversations.findConversation(caller, id)
  if (conversation === null) throw createConversationNotFoundError(id, null)
  const head = await loadHead(conversation.headTurnId, caller, ports)
  const include = readInclude(request.query)
  return {
    conversation: renderConversation(conversation),
    chain: { caller, head, lastListedPart: 'answer', include },
  }
}

async function loadHead(
  headTurnId: string | null,
  caller: Caller,
  ports: Ports<'archive'>,
): Promise<StoredTurn | null> {
  return headTurnId === null ? null : loadLastTurn(caller, headTurnId, ports)
}

async function findItem(
  request: AuthenticatedRequest,
  chain: ItemChain,
  ports: ItemPorts,
): Promise<ListedItem> {
  const itemId = request.getPathParameter('item')
  const item = await findChainItem(chain, itemId, ports)
  if (item !== null) return item
  throw createNotFoundError(`Item with id '${shortenForError(itemId)}' not found.`)
}
