/**
 * What holds for the context of a conversation: wishes, as a request says them in its field
 * `backstory`, and where it was reset. What is stored stays listed; only models are told otherwise.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { createConversationNotFoundError } from '../../gateway/history/lock-conversation.ts'
import type { Conversation } from '../../store/conversations/conversation-store-interface.ts'
import { checkContextOverrides } from './check-context-overrides.ts'
import { readConversationId } from './conversations.ts'
import {
  shortenForError,
  type StoredObjectRoute,
  type StoredObjectRequest,
} from './route-interface.ts'

export const CONVERSATION_POLICY_ROUTES: readonly StoredObjectRoute[] = [
  {
    method: 'GET',
    path: '/conversations/:id/context',
    answer: (asked, { conversations }) =>
      shown(asked, (id) => conversations.findConversation(asked.caller, id)),
  },
  {
    method: 'POST',
    path: '/conversations/:id/context',
    async answer(asked, { conversations }) {
      const context = checkContextOverrides(await asked.value(), 'context')
      return shown(asked, (id) => conversations.setContext(asked.caller, id, context))
    },
  },
  {
    method: 'POST',
    path: '/conversations/:id/reset',
    async answer(asked, { conversations }) {
      const [unknown] = Object.keys(await asked.maybeBody())
      if (unknown !== undefined) throw unknownField(shortenForError(unknown))
      return shown(asked, (id) => conversations.resetConversation(asked.caller, id))
    },
  },
]

function unknownField(param: string): GatewayError {
  return new GatewayError(
    'unknown_parameter',
    `Unknown parameter: '${param}'. A reset takes none: it is of all that has been said up to now.`,
    { param },
  )
}

async function shown(
  asked: StoredObjectRequest,
  found: (id: string) => Promise<Conversation | null>,
): Promise<JsonObject> {
  const id = readConversationId(asked)
  const conversation = await found(id)
  if (conversation === null) throw createConversationNotFoundError(id, null)
  const { context, resetAfter } = conversation
  return { object: 'conversation.context', conversation: id, context, reset_after: resetAfter }
}
