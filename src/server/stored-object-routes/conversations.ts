/** Conversations: made, read, labelled and deleted. */
import { conversationId } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { maybe, missing } from '../../dialects/checks/check-json-types.ts'
import { asMetadata } from '../../dialects/checks/check-value-limits.ts'
import { conversationLocked, unknownConversation } from '../../gateway/history/lock-conversation.ts'
import type { Conversation } from '../../store/conversations/conversation-store-interface.ts'
import { contextIn } from './check-context-overrides.ts'
import { itemsIn, turnOfItems } from './create-item-only-turn.ts'
import { withPrefix, type Resource, type ResourceRequest } from './route-interface.ts'

export const CONVERSATIONS: readonly Resource[] = [
  {
    method: 'POST',
    path: '/conversations',
    async answer({ body, caller }, world) {
      const asked = await body()
      const metadata = maybe(asMetadata, asked['metadata'], 'metadata') ?? {}
      const items = await itemsIn(asked['items'] ?? [], caller, world)
      const conversation = {
        id: conversationId(world.newTurnId()),
        tenant: caller.tenant,
        user: caller.user,
        metadata,
        createdAtMs: world.nowMs(),
        context: contextIn(asked['backstory'], 'backstory'),
      }
      const place = { conversation: conversation.id, chain: [], id: world.newTurnId() }
      const turn = items.length === 0 ? null : turnOfItems(items, place, caller, world)
      await world.conversations.createConversation(conversation, turn)
      return shown({ ...conversation, head: null, resetAfter: null })
    },
  },
  {
    method: 'GET',
    path: '/conversations/:id',
    async answer(asked, { conversations }) {
      const id = conversationIn(asked)
      return shownOr404(await conversations.findConversation(asked.caller, id), id)
    },
  },
  {
    method: 'POST',
    path: '/conversations/:id',
    async answer(asked, { conversations }) {
      const id = conversationIn(asked)
      const { metadata } = await asked.body()
      if (metadata === undefined) throw missing('metadata')
      const labels = maybe(asMetadata, metadata, 'metadata') ?? {}
      return shownOr404(await conversations.relabelConversation(asked.caller, id, labels), id)
    },
  },
  {
    method: 'DELETE',
    path: '/conversations/:id',
    async answer(asked, { conversations, nowMs }) {
      const id = conversationIn(asked)
      const came = await conversations.deleteConversation(asked.caller, id, nowMs())
      if (came === 'unknown') throw unknownConversation(id, null)
      if (came === 'busy') throw conversationLocked()
      return { id, object: 'conversation.deleted', deleted: true }
    },
  },
]

export function conversationIn({ named }: ResourceRequest): string {
  return withPrefix(named('id'), 'conv', 'conversation_id')
}

export function shownOr404(conversation: Conversation | null, id: string): JsonObject {
  if (conversation === null) throw unknownConversation(id, null)
  return shown(conversation)
}

function shown({ id, createdAtMs, metadata }: Conversation): JsonObject {
  return { id, object: 'conversation', created_at: Math.floor(createdAtMs / 1000), metadata }
}
