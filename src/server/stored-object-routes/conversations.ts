/** Conversations: made, read, labelled and deleted. */
import { conversationId } from '../../core/turn-derived-ids.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { readOptional, createMissingFieldError } from '../../dialects/checks/check-json-types.ts'
import { asMetadata } from '../../dialects/checks/check-value-limits.ts'
import {
  createConversationLockedError,
  createConversationNotFoundError,
} from '../../gateway/history/lock-conversation.ts'
import type { Conversation } from '../../store/conversations/conversation-store-interface.ts'
import { checkContextOverrides } from './check-context-overrides.ts'
import { parseAddedItems, createItemOnlyTurn } from './create-item-only-turn.ts'
import {
  requireIdPrefix,
  type StoredObjectRoute,
  type StoredObjectRequest,
} from './route-interface.ts'

export const CONVERSATION_ROUTES: readonly StoredObjectRoute[] = [
  {
    method: 'POST',
    path: '/conversations',
    async answer({ body, caller }, world) {
      const asked = await body()
      const metadata = readOptional(asMetadata, asked['metadata'], 'metadata') ?? {}
      const items = await parseAddedItems(asked['items'] ?? [], caller, world)
      const conversation = {
        id: conversationId(world.newTurnId()),
        tenant: caller.tenant,
        user: caller.user,
        metadata,
        createdAtMs: world.nowMs(),
        context: checkContextOverrides(asked['backstory'], 'backstory'),
      }
      const place = { conversation: conversation.id, chain: [], id: world.newTurnId() }
      const turn = items.length === 0 ? null : createItemOnlyTurn(items, place, caller, world)
      await world.conversations.createConversation(conversation, turn)
      return shown({ ...conversation, head: null, resetAfter: null })
    },
  },
  {
    method: 'GET',
    path: '/conversations/:id',
    async answer(asked, { conversations }) {
      const id = readConversationId(asked)
      return renderConversationOrThrow(await conversations.findConversation(asked.caller, id), id)
    },
  },
  {
    method: 'POST',
    path: '/conversations/:id',
    async answer(asked, { conversations }) {
      const id = readConversationId(asked)
      const { metadata } = await asked.body()
      if (metadata === undefined) throw createMissingFieldError('metadata')
      const labels = readOptional(asMetadata, metadata, 'metadata') ?? {}
      return renderConversationOrThrow(
        await conversations.relabelConversation(asked.caller, id, labels),
        id,
      )
    },
  },
  {
    method: 'DELETE',
    path: '/conversations/:id',
    async answer(asked, { conversations, nowMs }) {
      const id = readConversationId(asked)
      const came = await conversations.deleteConversation(asked.caller, id, nowMs())
      if (came === 'unknown') throw createConversationNotFoundError(id, null)
      if (came === 'busy') throw createConversationLockedError()
      return { id, object: 'conversation.deleted', deleted: true }
    },
  },
]

export function readConversationId({ named }: StoredObjectRequest): string {
  return requireIdPrefix(named('id'), 'conv', 'conversation_id')
}

export function renderConversationOrThrow(
  conversation: Conversation | null,
  id: string,
): JsonObject {
  if (conversation === null) throw createConversationNotFoundError(id, null)
  return shown(conversation)
}

function shown({ id, createdAtMs, metadata }: Conversation): JsonObject {
  return { id, object: 'conversation', created_at: Math.floor(createdAtMs / 1000), metadata }
}
