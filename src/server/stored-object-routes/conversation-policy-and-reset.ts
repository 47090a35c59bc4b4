/**
 * Routes for a conversation's policy overrides and for its reset. The overrides have the JSON
 * format of a request's field `backstory`. After a reset, models are sent only items that came
 * later, and pinned ones. Lists still contain the earlier items.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { createConversationNotFoundError } from '../../gateway/history/lock-conversation.ts'
import type { Conversation } from '../../store/conversations/conversation-store-interface.ts'
import { checkConversationOverrides, readConversationId } from './conversations.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { shortenForError, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const CONVERSATION_POLICY_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'GET', path: '/conversations/:id/context', handle: readContext },
  { method: 'POST', path: '/conversations/:id/context', handle: setContext },
  { method: 'POST', path: '/conversations/:id/reset', handle: resetConversation },
]

function readContext(request: AuthenticatedRequest, { conversations }: Ports<'conversations'>) {
  return renderContext(request, (id) => conversations.findConversation(request.caller, id, 'fail'))
}

async function setContext(
  request: AuthenticatedRequest,
  { conversations }: Ports<'conversations'>,
) {
  const context = checkConversationOverrides(await request.readJsonValue(), 'context')
  return renderContext(request, (id) =>
    conversations.setPolicyOverrides(request.caller, id, context),
  )
}

async function resetConversation(
  request: AuthenticatedRequest,
  { conversations }: Ports<'conversations'>,
) {
  const [unknown] = Object.keys(await request.readOptionalJsonObject())
  if (unknown !== undefined) throw createUnknownFieldError(shortenForError(unknown))
  return renderContext(request, (id) => conversations.resetConversation(request.caller, id))
}

function createUnknownFieldError(param: string): GatewayError {
  const message = `Unknown parameter: '${param}'. A reset has no parameters; it applies to the complete conversation so far.`
  return new GatewayError('unknown_parameter', message, { param })
}

async function renderContext(
  request: AuthenticatedRequest,
  query: (id: string) => Promise<Conversation | null>,
): Promise<JsonObject> {
  const id = readConversationId(request)
  const conversation = await query(id)
  if (conversation === null) throw createConversationNotFoundError(id, null)
  const { context, resetAfterTurnId } = conversation
  return {
    object: 'conversation.context',
    conversation: id,
    context,
    reset_after: resetAfterTurnId,
  }
}
