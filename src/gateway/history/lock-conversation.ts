/**
 * Locks a conversation, so that only one request at a time adds a turn to it. The gateway renews the lock
 * every 20 s until the request is done. The lock of a crashed process expires after 60 s.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { ClientRequest } from '../../core/client-request.ts'
import { GatewayError, errorMessage, createNotFoundError } from '../../core/errors/gateway-error.ts'
import type { ConversationState } from '../../store/conversations/conversation-store-interface.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface ConversationLock extends ConversationState {
  readonly conversationId: string
  /** Stops the renewal but does not release the lock: the statement that closes the turn does that. */
  readonly stopRenewing: () => void
  readonly release: () => Promise<void>
}

/**
 * The lifetime of a lock that is not renewed. It is longer than the pauses of a busy process. After a crash,
 * clients wait this long.
 */
export const LOCK_LEASE_MS = 60_000

/**
 * Locks the conversation to which the request adds the turn `turnId`; returns null if it adds none to a
 * conversation.
 */
export async function lockRequestConversation(
  { storage }: ClientRequest,
  caller: Caller,
  turnId: string,
  ports: Ports<'conversations' | 'log' | 'nowMs'>,
): Promise<ConversationLock | null> {
  const { conversationId, store, storeByDefault } = storage
  if (conversationId === null || !(store ?? storeByDefault)) return null
  return lockConversation(conversationId, caller, turnId, ports, 'conversation')
}

/**
 * Throws a GatewayError if the conversation is locked or unknown. `param`: the request field to name if it is
 * unknown.
 */
export async function lockConversation(
  id: string,
  { tenant, user }: Caller,
  turnId: string,
  ports: Ports<'conversations' | 'log' | 'nowMs'>,
  param: string | null,
): Promise<ConversationLock> {
  const { conversations, nowMs, log } = ports
  const holder = { conversationId: id, tenant, user, turnId }
  const createLease = () => ({ ...holder, nowMs: nowMs(), untilMs: nowMs() + LOCK_LEASE_MS })
  const result = await queryStoreOrThrow(() => conversations.lockConversation(createLease()))
  if (result.type !== 'held') {
    throw result.type === 'busy'
      ? createConversationLockedError()
      : createConversationNotFoundError(id, param)
  }
  const logFailure = (event: string) => (error: unknown) =>
    log('warn', event, { conversation: id, why: errorMessage(error) })
  const timer = setInterval(
    () => void conversations.renewLock(createLease()).catch(logFailure('hold-not-renewed')),
    LOCK_LEASE_MS / 3,
  )
  const stopRenewing = (): void => clearInterval(timer)
  const { headTurnId, context, resetAfterTurnId } = result
  return {
    conversationId: id,
    headTurnId,
    context,
    resetAfterTurnId,
    stopRenewing,
    async release() {
      stopRenewing()
      // A failed release is only logged, because the lock expires by itself.
      await conversations.unlockConversation(holder).catch(logFailure('hold-not-released'))
    },
  }
}

export function createConversationNotFoundError(id: string, param: string | null): GatewayError {
  return createNotFoundError(`Conversation with id '${id.slice(0, 80)}' not found.`, param)
}

export function createConversationLockedError(): GatewayError {
  return new GatewayError(
    'conversation_locked',
    'Another process is currently operating on this conversation. Please retry in a few seconds.',
    { param: 'conversation' },
  )
}
