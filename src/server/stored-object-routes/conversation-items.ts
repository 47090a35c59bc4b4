/** The items of a conversation: added, listed, read, and taken out again. */
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
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { parseAddedItems, createItemOnlyTurn } from './create-item-only-turn.ts'
import { readConversationId, renderConversationOrThrow } from './conversations.ts'
import { listTurnItems, type ListedItem } from './list-turn-items.ts'
import { renderList, cutPage, readPaging } from './paging.ts'
import {
  readInclude,
  shortenForError,
  type StoredObjectRoute,
  type StoredObjectRequest,
} from './route-interface.ts'

export const CONVERSATION_ITEM_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'POST', path: '/conversations/:id/items', answer: addItems },
  {
    method: 'GET',
    path: '/conversations/:id/items',
    async answer(asked, world) {
      const paging = readPaging(asked.query, 'desc')
      const { items } = await found(asked, world)
      const { entries, hasMore } = cutPage(items, paging)
      return renderList(
        entries.map(({ show }) => show()),
        hasMore,
      )
    },
  },
  {
    method: 'GET',
    path: '/conversations/:id/items/:item',
    async answer(asked, world) {
      const { items } = await found(asked, world)
      return named(asked, items).show()
    },
  },
  {
    method: 'DELETE',
    path: '/conversations/:id/items/:item',
    async answer(asked, world) {
      const { items, conversation } = await found(asked, world)
      await world.conversations.hideItem(asked.caller, named(asked, items).place)
      return conversation
    },
  },
]

async function addItems(
  asked: StoredObjectRequest,
  world: GatewayDependencies,
): Promise<JsonObject> {
  const conversation = readConversationId(asked)
  const { caller, query } = asked
  const { items: given } = await asked.body()
  if (given === undefined) throw createMissingFieldError('items')
  const items = await parseAddedItems(given, caller, world)
  const id = world.newTurnId()
  const hold = await lockConversation(conversation, caller, id, world, null)
  try {
    const chain = await chainTo(hold.head, caller, world)
    if (items.length === 0) return renderList([], false)
    const turn = createItemOnlyTurn(items, { id, conversation, chain }, caller, world)
    if (!(await world.conversations.appendItems(turn))) throw createConversationLockedError()
    const all = listTurnItems([...chain, written(turn)], 'answer', readInclude(query))
    return renderList(
      all.slice(-items.length).map(({ show }) => show()),
      false,
    )
  } finally {
    await hold.release()
  }
}

/** As it would be read again. */
function written(turn: ReturnType<typeof createItemOnlyTurn>): StoredTurn {
  return {
    ...turn,
    digests: {},
    metadata: null,
    deletedAtMs: null,
    state: 'complete',
    endedAtMs: turn.createdAtMs,
    usage: null,
    failure: null,
    finish: null,
    servedModel: null,
    contentHash: null,
    reasoningRefusedBy: null,
    usedAtMs: turn.createdAtMs,
    output: [],
    hidden: new Set(),
  }
}

interface Found {
  readonly conversation: JsonObject
  /** All that it ever had, oldest first. */
  readonly items: readonly ListedItem[]
}

async function found(asked: StoredObjectRequest, world: GatewayDependencies): Promise<Found> {
  const id = readConversationId(asked)
  const conversation = await world.conversations.findConversation(asked.caller, id)
  if (conversation === null) throw createConversationNotFoundError(id, null)
  const chain = await chainTo(conversation.head, asked.caller, world)
  return {
    conversation: renderConversationOrThrow(conversation, id),
    items: listTurnItems(chain, 'answer', readInclude(asked.query)),
  }
}

async function chainTo(
  head: string | null,
  owner: Caller,
  { store }: GatewayDependencies,
): Promise<readonly StoredTurn[]> {
  return head === null ? [] : ((await store.loadChain(owner, head)) ?? [])
}

function named(asked: StoredObjectRequest, items: readonly ListedItem[]): ListedItem {
  const wanted = asked.named('item')
  const item = items.find(({ id, isHidden }) => id === wanted && !isHidden)
  if (item !== undefined) return item
  throw createNotFoundError(`Item with id '${shortenForError(wanted)}' not found.`)
}
