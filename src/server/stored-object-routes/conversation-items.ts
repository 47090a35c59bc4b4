/** The items of a conversation: added, listed, read, and taken out again. */
import type { JsonObject } from '../../core/json/json.ts'
import { missing } from '../../dialects/checks/check-json-types.ts'
import { notFound } from '../../core/errors/gateway-error.ts'
import {
  conversationLocked,
  holdConversation,
  unknownConversation,
} from '../../gateway/history/lock-conversation.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { itemsIn, turnOfItems } from './create-item-only-turn.ts'
import { conversationIn, shownOr404 } from './conversations.ts'
import { listedItems, type ListedItem } from './list-turn-items.ts'
import { listOf, pageOf, pagingIn } from './paging.ts'
import { includeIn, shortened, type Resource, type ResourceRequest } from './route-interface.ts'

export const CONVERSATION_ITEMS: readonly Resource[] = [
  { method: 'POST', path: '/conversations/:id/items', answer: addItems },
  {
    method: 'GET',
    path: '/conversations/:id/items',
    async answer(asked, world) {
      const paging = pagingIn(asked.query, 'desc')
      const { items } = await found(asked, world)
      const { entries, hasMore } = pageOf(items, paging)
      return listOf(
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

async function addItems(asked: ResourceRequest, world: World): Promise<JsonObject> {
  const conversation = conversationIn(asked)
  const { caller, query } = asked
  const { items: given } = await asked.body()
  if (given === undefined) throw missing('items')
  const items = await itemsIn(given, caller, world)
  const id = world.newTurnId()
  const hold = await holdConversation(conversation, caller, id, world, null)
  try {
    const chain = await chainTo(hold.head, caller, world)
    if (items.length === 0) return listOf([], false)
    const turn = turnOfItems(items, { id, conversation, chain }, caller, world)
    if (!(await world.conversations.appendItems(turn))) throw conversationLocked()
    const all = listedItems([...chain, written(turn)], 'answer', includeIn(query))
    return listOf(
      all.slice(-items.length).map(({ show }) => show()),
      false,
    )
  } finally {
    await hold.letGo()
  }
}

/** As it would be read again. */
function written(turn: ReturnType<typeof turnOfItems>): StoredTurn {
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

async function found(asked: ResourceRequest, world: World): Promise<Found> {
  const id = conversationIn(asked)
  const conversation = await world.conversations.findConversation(asked.caller, id)
  if (conversation === null) throw unknownConversation(id, null)
  const chain = await chainTo(conversation.head, asked.caller, world)
  return {
    conversation: shownOr404(conversation, id),
    items: listedItems(chain, 'answer', includeIn(asked.query)),
  }
}

async function chainTo(
  head: string | null,
  owner: Caller,
  { store }: World,
): Promise<readonly StoredTurn[]> {
  return head === null ? [] : ((await store.loadChain(owner, head)) ?? [])
}

function named(asked: ResourceRequest, items: readonly ListedItem[]): ListedItem {
  const wanted = asked.named('item')
  const item = items.find(({ id, isHidden }) => id === wanted && !isHidden)
  if (item !== undefined) return item
  throw notFound(`Item with id '${shortened(wanted)}' not found.`)
}
