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
import { listTurnItems, type ListedItem } from './list-turn-items.ts'
import { renderList, renderPage, readPaging } from './paging.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { readInclude, shortenForError, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const CONVERSATION_ITEM_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'POST', path: '/conversations/:id/items', handle: addItems },
  { method: 'GET', path: '/conversations/:id/items', handle: listItems },
  { method: 'GET', path: '/conversations/:id/items/:item', handle: readItem },
  { method: 'DELETE', path: '/conversations/:id/items/:item', handle: removeItem },
]

async function listItems(request: AuthenticatedRequest, ports: Ports<'conversations' | 'store'>) {
  const paging = readPaging(request.query, 'desc')
  const { items } = await loadItems(request, ports)
  return renderPage(items, paging, (item) => item.render())
}

async function readItem(request: AuthenticatedRequest, ports: Ports<'conversations' | 'store'>) {
  const { items } = await loadItems(request, ports)
  return findItem(request, items).render()
}

async function removeItem(request: AuthenticatedRequest, ports: Ports<'conversations' | 'store'>) {
  const { items, conversation } = await loadItems(request, ports)
  await ports.conversations.hideItem(request.caller, findItem(request, items).position)
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
    const chain = await loadChain(lock.headTurnId, caller, ports)
    if (items.length === 0) return renderList([], false)
    const turn = createItemOnlyTurn(items, { turnId, conversation, chain }, caller, ports)
    if (!(await ports.conversations.appendItems(turn))) throw createConversationLockedError()
    const newChain = [...chain, convertNewToStoredTurn(turn, turn.createdAtMs)]
    const added = listTurnItems(newChain, 'answer', readInclude(query)).slice(-items.length)
    const rendered = added.map((item) => item.render())
    return renderList(rendered, false)
  } finally {
    await lock.release()
  }
}

interface ConversationItems {
  readonly conversation: JsonObject
  /**
   * The items of the conversation, oldest first. Items that a client removed are included, with
   * `isHidden: true`.
   */
  readonly items: readonly ListedItem[]
}

async function loadItems(
  request: AuthenticatedRequest,
  ports: Ports<'conversations' | 'store'>,
): Promise<ConversationItems> {
  const id = readConversationId(request)
  const conversation = await ports.conversations.findConversation(request.caller, id)
  if (conversation === null) throw createConversationNotFoundError(id, null)
  const chain = await loadChain(conversation.headTurnId, request.caller, ports)
  return {
    conversation: renderConversation(conversation),
    items: listTurnItems(chain, 'answer', readInclude(request.query)),
  }
}

async function loadChain(
  headTurnId: string | null,
  caller: Caller,
  { store }: Ports<'store'>,
): Promise<readonly StoredTurn[]> {
  return headTurnId === null ? [] : ((await store.loadChain(caller, headTurnId)) ?? [])
}

function findItem(request: AuthenticatedRequest, items: readonly ListedItem[]): ListedItem {
  const itemId = request.getPathParameter('item')
  const item = items.find(({ id, isHidden }) => id === itemId && !isHidden)
  if (item !== undefined) return item
  throw createNotFoundError(`Item with id '${shortenForError(itemId)}' not found.`)
}
